"""Mutations of what lets tenants share: slots, admission, ticks."""

from tests.simulation.mutation import Mutation

SHARING = (
    Mutation(
        name="a slot is freed whatever its number",
        module="coatcheck.slots",
        old='update(slots_key(limiter), (below(entry, end),), {entry: None, "freed_at": now})',
        new='update(slots_key(limiter), (), {entry: None, "freed_at": now})',
        scene="../coatcheck/test_slots.py::test_a_record_that_is_replayed_frees_nothing_of_a_newer_attempt",
    ),
    Mutation(
        name="a slot is taken although none is free",
        module="coatcheck.slots",
        old='(any_of(absent(entry), mine), any_of(fewer("held", limiter.cap), mine))',
        new="()",
    ),
    Mutation(
        name="an older number takes the slot of a newer one",
        module="coatcheck.slots",
        old='(any_of(absent(entry), mine), any_of(fewer("held", limiter.cap), mine))',
        new='(any_of(fewer("held", limiter.cap), mine),)',
        scene="../coatcheck/test_slots.py::"
        "test_a_ring_that_stood_still_does_not_take_the_slot_of_a_newer_attempt_back_to_its_own_number",
    ),
    Mutation(
        name="of several limiters one is taken alone",
        module="coatcheck.slots",
        old="            store.transact(writes)",
        new="            for each in writes:\n                store.write(each)",
    ),
    Mutation(
        name="a slot is not freed at the end",
        module="coatcheck.ring",
        old="        case Conclude() | Park() | StepAside() | Wait():",
        new="        case Park() | StepAside() | Wait():",
        scene="test_slots.py::test_a_slot_of_a_cancelled_job_is_the_next_ones",
    ),
    Mutation(
        name="a job that waits for its retry keeps its slot",
        module="coatcheck.ring",
        old="        case Conclude() | Park() | StepAside() | Wait():",
        new="        case Conclude() | Park() | StepAside():",
        scene="test_slots.py::test_who_snoozes_or_waits_for_a_retry_holds_no_slot",
    ),
    Mutation(
        name="a job that snoozes for long keeps its slot",
        module="coatcheck.ring",
        old="            return job.state not in OWNED",
        new="            return False",
        scene="test_slots.py::test_who_snoozes_or_waits_for_a_retry_holds_no_slot",
    ),
    Mutation(
        name="a paused job keeps its slot",
        module="coatcheck.ring",
        old="        case Conclude() | Park() | StepAside() | Wait():",
        new="        case Conclude() | Wait():",
        scene="../coatcheck/test_slots.py::test_a_paused_job_leaves_its_slot_to_others",
    ),
    Mutation(
        name="a yield frees its slot",
        module="coatcheck.ring",
        old="        case Conclude() | Park() | StepAside() | Wait():",
        new="        case Conclude() | Park() | StepAside() | Wait() | Send():",
    ),
    Mutation(
        name="only who frees a slot lets others have it",
        module="coatcheck.slots",
        old="    except Refused as refusal:\n        return refusal.old\n\n\ndef free_entry",
        new="    except Refused:\n        return None\n\n\ndef free_entry",
        scene="test_slots.py::test_a_free_without_a_refill_is_made_up_for_by_its_replay",
    ),
    Mutation(
        name="a newcomer takes what is free before those who wait",
        module="coatcheck.slots",
        old="(*free, nobodys) if polite else free",
        new="free",
        scene="../coatcheck/test_slots_in_order.py::test_a_newcomer_leaves_a_slot_that_is_free_just_then_to_those_who_wait",
    ),
    Mutation(
        name="nobody looks after slots soon",
        module="coatcheck.slots",
        old='sooner = any_of(absent("due"), above("due", soon))',
        new='sooner = absent("due")',
        scene="../coatcheck/test_slots.py::test_a_job_takes_a_slot_before_it_is_sent_and_one_too_many_stands_in_line",
    ),
    Mutation(
        name="a late note leaves slots that nobody looks after",
        module="coatcheck.slots",
        old='{"waits_at": now}, set_if_absent={"due": soon})',
        new='{"waits_at": now})',
        scene="../coatcheck/test_slots_looked_after.py::"
        "test_a_note_that_lands_when_the_slots_are_done_with_makes_them_due_again",
    ),
    Mutation(
        name="slots that are due later count as looked after soon",
        module="coatcheck.slots",
        old="moment(waits_at) > now - NOTED and moment(due) <= soon",
        new="moment(waits_at) > now - NOTED",
        scene="../coatcheck/test_slots_of_many.py::"
        "test_who_waits_right_after_the_supervisor_has_looked_is_looked_after_soon",
    ),
    Mutation(
        name="a walk trusts slots that were full before it freed some",
        module="coatcheck.supervisor",
        old="            left.discard(job_id)",
        new="            pass",
        scene="../coatcheck/test_slots_of_many.py::test_the_supervisor_fills_all_the_slots_that_it_frees",
    ),
    Mutation(
        name="it is forgotten at once that somebody waits",
        module="coatcheck.supervisor",
        old="(waiting == 0 and now - moment(waits_at) >= FORGET_AFTER)",
        new="waiting == 0",
        scene="../coatcheck/test_slots_looked_after.py::test_it_is_forgotten_that_somebody_waits_only_when_nobody_was_found_for_long_enough",
    ),
    Mutation(
        name="a replay is refused like anybody else",
        module="coatcheck.submission",
        old="""        if (known := known_job(store, key, request, now)) is not None:
            return Accepted(job=known, replayed=True)
        raise""",
        new="        raise",
    ),
    Mutation(
        name="a job that was tried again asks for admission",
        module="coatcheck.redrive",
        old="""        if old.retried_as is not None:
            return _known(store, old.retried_as)
        if old.state""",
        new="""        admit(old, now)
        if old.retried_as is not None:
            return _known(store, old.retried_as)
        if old.state""",
    ),
    Mutation(
        name="nobody frees what has no right to its slot",
        module="coatcheck.supervisor",
        old="            free_entry(bell.store, limiter, job_id, attempt, now)",
        new="            pass",
        scene="../coatcheck/test_slots_looked_after.py::test_the_supervisor_frees_what_nobody_has_a_right_to",
    ),
    Mutation(
        name="the slots are done with, whoever took one meanwhile",
        module="coatcheck.slots",
        old='(due, waits_at, fewer("held", 1))',
        new="(due, waits_at)",
        scene="../coatcheck/test_slots_looked_after.py::test_a_slot_that_is_taken_while_the_supervisor_looks_stays_due",
    ),
    Mutation(
        name="a walk begins with the youngest",
        module="coatcheck.ring",
        old="sorted(waiting, key=lambda each: each not in held)",
        new="sorted(waiting, reverse=True)",
        scene="test_slots.py::test_a_dozen_jobs_of_a_cap_of_three_run_in_their_order_each_once",
    ),
    Mutation(
        name="a pause that takes a job back keeps its number",
        module="coatcheck.hold",
        old='"attempt": doorbell.attempt + 1, "due"',
        new='"attempt": doorbell.attempt, "due"',
        scene="../coatcheck/test_hold.py::"
        "test_a_number_that_is_taken_back_is_never_owed_again_so_that_its_doorbell_is_stale",
    ),
    Mutation(
        name="the slot of the number that is owed is freed",
        module="coatcheck.slots",
        old="    if job.attempt == attempt:\n        return True\n",
        new="    if job.state is not State.QUEUED:\n        return job.attempt == attempt\n",
        scene="../coatcheck/test_slots_looked_after.py::"
        "test_a_job_that_is_resumed_and_sent_while_the_supervisor_looks_keeps_its_slot",
    ),
    Mutation(
        name="nobody fills a slot that is free",
        module="coatcheck.ring",
        old="    waiting = bell.store.waiting(limiter).ids[:MOST_LOOKED_AT]\n",
        new="    waiting: tuple[str, ...] = ()\n",
    ),
    Mutation(
        name="ticks of one hour are one",
        module="coatcheck.tick",
        old="        at = rfc3339(self.scheduled_time)",
        new="        at = rfc3339(self.scheduled_time)[:13]",
    ),
    Mutation(
        name="of a tick nothing is kept",
        module="coatcheck.tick",
        old='seen = any_of(absent("ttl"), at_most("ttl", round(now.timestamp())))',
        new='seen = any_of(absent("nothing"))',
    ),
    Mutation(
        name="two ticks do not see one another",
        module="coatcheck.schedule_record",
        old='values | kept, as_seen("version", record.version or None))',
        new="values | kept)",
    ),
    Mutation(
        name="an open job is in no tick's way",
        module="coatcheck.tick",
        old="        if not job.state.final:\n            return job_id\n",
        new="",
    ),
)
