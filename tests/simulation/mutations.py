"""Mutations: a guard of the product taken away by exact text, and what must catch it.

Each is caught by a law within the first 200 seeds, or, where chance is too slow, by the scene that is named.
Whoever adds a capability adds its mutations.
"""

from tests.simulation.mutation import Mutation
from tests.simulation.mutations_of_sharing import SHARING

FENCED = '(one_of("state", *OWNED), *fence(job, seq)),'
SETTLED = "(from_states(target, *among), *fence(job, seq)),"

MUTATIONS = (
    Mutation(name="no condition on settle", module="coatcheck.settle", old=SETTLED, new="(),"),
    Mutation(
        name="settle by id",
        module="coatcheck.settle",
        old=SETTLED,
        new="(from_states(target, *among),),",
        scene="test_zombies.py::test_a_zombie_that_settles_while_the_next_attempt_runs_changes_nothing",
    ),
    Mutation(
        name="an open outcome is written from cancelling",
        module="coatcheck.settle",
        old=SETTLED,
        new="(one_of('state', *OWNED), *fence(job, seq)),",
        scene="test_cancellations.py::test_a_cancellation_that_comes_after_the_last_checkpoint_is_not_lost",
    ),
    Mutation(
        name="checkpoint unfenced",
        module="coatcheck.settle",
        old=FENCED + '\n        {\n            "cursor": cursor,',
        new='(),\n        {\n            "cursor": cursor,',
    ),
    Mutation(
        name="a checkpoint renews the row's lease alone",
        module="coatcheck.settle",
        old='"cursor_key": cursor_key,\n',
        new='"cursor_key": cursor_key, "lease_until": (job.lease_until or now) + (now - job.updated_at),\n',
    ),
    Mutation(
        name="beat unfenced",
        module="coatcheck.settle",
        old=FENCED + '\n        {\n            "lease_until"',
        new='(),\n        {\n            "lease_until"',
    ),
    Mutation(
        name="a late packet undoes a newer one",
        module="coatcheck.settle",
        old='is_("owner", job.owner), below("seq", seq))',
        new='is_("owner", job.owner))',
    ),
    Mutation(
        name="own beat or checkpoint not known again",
        module="coatcheck.settle",
        old='return row.get("owner") == _owner(write) and row.get("seq") == write.set["seq"]',
        new="return False",
    ),
    Mutation(
        name="a yield keeps its number",
        module="coatcheck.settle",
        old='return State.QUEUED, {"attempt": job.attempt + 1, "ready_at": now}',
        new='return State.QUEUED, {"ready_at": now}',
    ),
    Mutation(
        name="a failed attempt keeps its number",
        module="coatcheck.settle",
        old='        "failures": failures,\n        "attempt": job.attempt + 1,\n        "retry_at"',
        new='        "failures": failures,\n        "retry_at"',
    ),
    Mutation(
        name="a snooze is charged",
        module="coatcheck.settle",
        old='{"attempt": job.attempt + 1, "run_at": run_at,',
        new='{"failures": job.failures + 1, "attempt": job.attempt + 1, "run_at": run_at,',
    ),
    Mutation(
        name="the budget is one too large",
        module="coatcheck.settle",
        old="if failures >= job.max_failures:",
        new="if failures > job.max_failures:",
    ),
    Mutation(
        name="a dead worker is not charged",
        module="coatcheck.takeover",
        old="    failures = job.failures + 1\n",
        new="    failures = job.failures\n",
    ),
    Mutation(
        name="a dead worker's number is owed again",
        module="coatcheck.takeover",
        old='        "attempt": job.attempt + 1,\n',
        new="",
    ),
    Mutation(
        name="the supervisor acts on an old read",
        module="coatcheck.takeover",
        old='            is_("attempt", job.attempt),\n            below("lease_until", now),\n',
        new="",
        scene="test_deaths.py::test_a_take_over_is_refused_if_the_lease_was_renewed_since_it_was_seen",
    ),
    Mutation(
        name="a take-over does not look at the lease",
        module="coatcheck.takeover",
        old='            below("lease_until", now),\n',
        new="",
        scene="test_deaths.py::test_a_take_over_is_refused_if_the_lease_was_renewed_since_it_was_seen",
    ),
    Mutation(
        name="a stale doorbell is accepted",
        module="coatcheck.claim",
        old='(from_states(State.RUNNING), is_("attempt", doorbell.attempt), is_("tenant"',
        new='(from_states(State.RUNNING), is_("tenant"',
    ),
    Mutation(
        name="own claim not known again",
        module="coatcheck.claim",
        old='mine=lambda old: old.get("owner") == owner',
        new="mine=lambda old: False",
    ),
    Mutation(
        name="job and keys are written one after the other",
        module="coatcheck.submission",
        old="refused = refusals(store, [*job_writes(job), *keys, *naturals])",
        new="refused = refusals(store, job_writes(job)) or (refusals(store, keys) if keys else {})",
    ),
    Mutation(
        name="the natural key is not taken",
        module="coatcheck.submission",
        old="naturals = [natural_key_write(unique, job, ended, now, terms.timings)] if unique else []",
        new="naturals: list[Put] = []",
    ),
    Mutation(
        name="a late cancel overwrites a final state",
        module="coatcheck.cancellation",
        old='(from_states(target, job.state), is_("attempt", job.attempt)),',
        new='(is_("attempt", job.attempt),),',
        scene="test_cancellations.py::test_a_cancellation_that_lands_after_the_end_changes_nothing",
    ),
    Mutation(
        name="a retry is due at once",
        module="coatcheck.next_step",
        old="return _until(job, job.retry_at, now, timings) or Requeue()",
        new="return Requeue()",
    ),
    Mutation(
        name="a requeue does not look at the state",
        module="coatcheck.queued",
        old='(from_states(State.QUEUED, State.RETRYING), is_("attempt", job.attempt)),',
        new='(is_("attempt", job.attempt),),',
        scene="test_cancellations.py::test_a_requeue_does_not_bring_back_a_job_that_was_cancelled_meanwhile",
    ),
    Mutation(
        name="a sent doorbell is not marked",
        module="coatcheck.ring",
        old="        bell.store.write(sent_write(job, now, bell.timings))\n",
        new="        pass\n",
        scene="test_doorbells.py::test_a_job_that_waits_for_a_worker_is_not_rung_again_and_again",
    ),
    Mutation(
        name="no dead letter",
        module="coatcheck.ring",
        old="if job.state is State.FAILED and job.error is not None and job.error.type in DEAD_LETTERED:",
        new="if False:",
    ),
    Mutation(
        name="dead letters for every failure",
        module="coatcheck.ring",
        old="job.error is not None and job.error.type in DEAD_LETTERED:",
        new="job.error is not None:",
    ),
    Mutation(
        name="the cancelled leave their parts",
        module="coatcheck.ring",
        old="        bell.objects.remove(output_prefix(job.tenant, job.root), before=end)\n",
        new="        pass\n",
    ),
    Mutation(
        name="parts are removed by the worker's clock alone",
        module="coatcheck.ring",
        old="end = job.finished_at + bell.timings.clocks_apart",
        new="end = job.finished_at",
    ),
    Mutation(
        name="the first duty clears due",
        module="coatcheck.duty",
        old='({"due": None} if last else {})',
        new='{"due": None}',
        scene="test_doorbells.py::test_the_duty_of_whoever_falls_silent_is_done_although_the_other_is_done_with",
    ),
    Mutation(
        name="a job is tried again as often as that is asked",
        module="coatcheck.redrive",
        old='(one_of("state", *REDRIVABLE), absent("retried_as")),',
        new="(),",
        scene="test_requests.py::test_two_clients_that_try_a_job_again_at_once_get_the_same_new_one",
    ),
    Mutation(
        name="an entry that is not written is forgotten",
        module="handlers.recorder",
        old="        bells.wake_queue().wake(job.id, LATER, entry)\n",
        new="        pass\n",
    ),
    Mutation(
        name="a worker does not look for pauses",
        module="coatcheck.run.worker",
        old="    if hold is None:\n        return False\n",
        new="    return False\n",
    ),
    Mutation(
        name="a heartbeat comes too late",
        module="coatcheck.run.heartbeat",
        old="        wait = self._at_most(self._timings.beat)\n        while True:",
        new="        wait = self._timings.lease * 1.2\n        while True:",
    ),
    Mutation(
        name="beats and checkpoints are not kept apart",
        module="coatcheck.run.lease",
        old="        with self._lock:\n            if self._over:",
        new="        if True:\n            if self._over:",
    ),
    Mutation(
        name="a cancellation that came last is left to the lease's end",
        module="coatcheck.run.lease",
        old="            if not self._asked_to_cancel():\n                raise\n",
        new="            raise\n",
    ),
    Mutation(
        name="progress goes back",
        module="coatcheck.progress",
        old="done=max(known.done, new.done),",
        new="done=new.done,",
    ),
    *SHARING,
)
