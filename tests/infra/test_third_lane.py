"""A lane that a team adds: one entry in the config, and all that a lane is follows."""

from dataclasses import replace
from pathlib import Path

from infra.capacity import FunctionSize
from infra.config import CONFIGS, Stage
from tests.infra.template import synthesized

PROD = CONFIGS[Stage.PROD]
VIDEO = replace(
    PROD.lanes[0], name="video", share=2, size=FunctionSize(memory_mb=10_240, timeout_seconds=600), cap_per_tenant=5
)


def test_a_lane_that_a_team_adds_has_a_queue_a_worker_a_share_and_alarms_and_can_be_asked_for(tmp_path: Path) -> None:
    config = replace(PROD, lanes=(*PROD.lanes, VIDEO))
    template = synthesized(config, tmp_path)
    worker = template.function("worker-video")
    assert (worker.properties["MemorySize"], worker.properties["Timeout"]) == (10_240, 600)
    assert config.maximum_concurrency["video"] in [
        mapping.properties.get("ScalingConfig", {}).get("MaximumConcurrency")
        for mapping in template.of("AWS::Lambda::EventSourceMapping")
    ]
    assert '"video":"VideoQueue"' in template.name_of(template.environment("dispatcher")["LANE_QUEUES"])
    assert '"video"' in template.name_of(template.environment("submit")["LANES"])
    assert '"video":5' in template.name_of(template.environment("dispatcher")["CAPS"]).replace(" ", "")
    alarms = [str(alarm.properties.get("AlarmName")) for alarm in template.of("AWS::CloudWatch::Alarm")]
    assert [name for name in alarms if "video" in name]
    assert sum(config.maximum_concurrency.values()) == config.slots
