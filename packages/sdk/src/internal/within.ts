/**
 * Waits for work to end, at most `limitMs`. The timer keeps the process alive meanwhile: work that hangs holds nothing
 * that would, and Node ends with code 13 where an await is left with nothing to wait for.
 */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: limit, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  try {
    await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
