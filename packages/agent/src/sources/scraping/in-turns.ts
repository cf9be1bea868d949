import { turn } from '@sonde/sdk/internal'

/** Samples of a body that are processed in one step. */
export const SAMPLES_A_STEP = 32

/** Processor time that the work for one answer may take. */
export class CpuBudget {
  /** Unit: milliseconds. */
  readonly limitMs: number
  /** Unit: milliseconds. */
  usedMs = 0

  constructor(limitMs: number) {
    this.limitMs = limitMs
  }

  get isSpent(): boolean {
    return this.usedMs > this.limitMs
  }
}

/** The work was stopped because its budget is used up. */
export class BudgetSpent extends Error {}

/**
 * Runs work in steps. Yields the thread when its share of a turn is over, and stops when its budget is used up.
 *
 * @throws BudgetSpent if the work exceeds its budget; the reason of `signal` if that aborts.
 */
export async function inTurns<T>(steps: Generator<undefined, T>, budget: CpuBudget, signal: AbortSignal): Promise<T> {
  try {
    for (;;) {
      signal.throwIfAborted()
      const startMs = threadMs()
      let step = steps.next()
      while (step.done !== true && !turn.isOver()) step = steps.next()
      budget.usedMs += threadMs() - startMs
      if (step.done === true) return step.value
      if (budget.isSpent) throw new BudgetSpent()
      await turn.next()
    }
  } finally {
    steps.return(undefined as T)
  }
}

/** Processor time of this thread. Where Node does not report it, elapsed time. Unit: milliseconds. */
function threadMs(): number {
  if (process.threadCpuUsage === undefined) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
