/**
 * Every failure reaches the page as one shape: where, why, and what to do. The engine sends reason and remedy as
 * text. A problem that the page itself found has neither: its words are looked up by the code, in the reader's language.
 */
export interface Problem {
  code: string;
  place: string;
  reason: string;
  remedy: string;
  params?: Record<string, string | number>;
}

/** A problem that the page found. */
export function pageProblem(code: string, place: string, params: Problem['params'] = {}): Problem {
  return { code, place, reason: '', remedy: '', params };
}

export class EngineError extends Error {
  readonly problem: Problem;
  /** The instance is lost: its memory may be inconsistent and it must not be called again. */
  readonly fatal: boolean;

  constructor(problem: Problem, fatal = false) {
    super(`${problem.place}: ${problem.reason}`);
    this.problem = problem;
    this.fatal = fatal;
  }
}

/** What the engine threw, as an EngineError. Anything but its own typed error is a trap. */
export function toEngineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  if (isProblem(thrown)) {
    const { code, place, reason, remedy } = thrown;
    return new EngineError({ code, place, reason, remedy });
  }
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new EngineError(pageProblem('engine-stopped', 'engine', { reason }), true);
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  return ['code', 'place', 'reason', 'remedy'].every((field) => typeof record[field] === 'string');
}
