"""Graders as they are written for the Python edition."""
from typing import Any

from holodeck.lib.test_runner.code_grader import GraderContext, GraderResult
from holodeck.models.test_result import ToolInvocation


def everything(ctx: GraderContext) -> GraderResult:
    assert isinstance(ctx, GraderContext)
    assert isinstance(ctx.tool_invocations, tuple) and all(isinstance(t, ToolInvocation) for t in ctx.tool_invocations)
    try:
        ctx.turn_input = "changed"
    except Exception as e:
        frozen = type(e).__name__
    return GraderResult(score=1.0, details={
        "turn_input": ctx.turn_input, "agent_response": ctx.agent_response, "ground_truth": ctx.ground_truth,
        "tools": [t.model_dump() for t in ctx.tool_invocations], "retrieval_context": ctx.retrieval_context,
        "turn_index": ctx.turn_index, "test_case_name": ctx.test_case_name, "turn_config": ctx.turn_config,
        "expected_tools": ctx.expected_tools, "structured_output": ctx.structured_output, "token_usage": ctx.token_usage,
        "cost_usd": ctx.cost_usd, "latency_ms": ctx.latency_ms, "attempt": ctx.attempt, "prior_turns": ctx.prior_turns, "files": ctx.files,
        "frozen": frozen,
    })


def _find(name: str, calls: tuple[ToolInvocation, ...]) -> Any:
    return next((c for c in calls if c.name.endswith(name)), None)


def refund_matches(ctx: GraderContext) -> GraderResult:
    call = _find("refund", ctx.tool_invocations)
    if call is None:
        return GraderResult(score=0.0, passed=False, reason="refund was not called")
    wanted = ctx.turn_config.get("amount")
    close = 1.0 if call.args.get("amount") == wanted else 0.5
    return GraderResult(score=close, passed=close == 1.0, reason=f"refunded {call.args.get('amount')}, wanted {wanted}", details={"wanted": wanted})


def yes(ctx): return True
def no(ctx): return False
def whole(ctx): return 1
def part(ctx): return 0.25
def seven(ctx): return 7
def positional(ctx): return GraderResult(0.5, None, "half")
def words(ctx): return "good"
def a_dict(ctx): return {"score": 1}
def none(ctx): return None
def nan(ctx): return float("nan")
def bad_details(ctx): return GraderResult(score=1, details={"x": object()})
def bad_score(ctx): return GraderResult(score="1")
def raises(ctx): raise KeyError("amount")
async def later(ctx): return GraderResult(score=1)
