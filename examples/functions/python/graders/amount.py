"""Is the amount in the answer the right one?"""

import re

from holodeck.lib.test_runner.code_grader import GraderContext, GraderResult


def right_amount(ctx: GraderContext) -> GraderResult:
    amounts = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", ctx.agent_response)]
    if not amounts:
        return GraderResult(score=0, reason="the answer has no amount")
    off = abs(amounts[0] - float(ctx.ground_truth))
    return GraderResult(
        score=1.0 if off <= ctx.turn_config.get("within", 0) else 0.0,
        reason=f"{off} EUR off",
        details={"amounts": amounts},
    )
