import holodeck
from holodeck.config import loader
def f(ctx): return True
