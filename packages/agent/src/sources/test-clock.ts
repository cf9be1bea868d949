import type { TestContext } from 'node:test'
import { evaluate, gridOf } from '@sonde/sdk/internal'

/** Mocks all clocks; time moves only when the test advances it. */
export function mockClock(t: TestContext) {
  const clock = {
    nowMs: Date.now(),
    advance(ms: number) {
      clock.nowMs += ms
    },
  }
  const [startMs, startNs, startPerformanceMs] = [clock.nowMs, process.hrtime.bigint(), performance.now()]
  t.mock.method(Date, 'now', () => Math.floor(clock.nowMs))
  t.mock.method(process.hrtime, 'bigint', () => startNs + BigInt(Math.round((clock.nowMs - startMs) * 1e6)))
  t.mock.method(performance, 'now', () => startPerformanceMs + clock.nowMs - startMs)
  return clock
}

/**
 * Rates that a query returns for a counter of a type whose series take turns, once a second from the second sample to
 * the last. Times are in milliseconds; unit: per second.
 */
export function ratesOf(times: readonly number[], numbers: readonly number[]): readonly number[] {
  const column = {
    labels: {},
    intervalMs: 0,
    times: Float64Array.from(times),
    values: { numbers: Float64Array.from(numbers) },
  }
  const grid = gridOf((times[1] as number) + 1, times.at(-1) as number, 1000)
  return [...evaluate(column, 'rate', grid, 1000).values]
}
