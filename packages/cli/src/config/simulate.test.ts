import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from './config-error.ts'
import { addSimulator } from './simulate.ts'

const pastOf = (simulatePast: string) => {
  const raw: { data_sources?: { type: string; past_s?: number }[] } = {}
  addSimulator(raw, { onlySimulated: true, simulatePast })
  return raw.data_sources?.find(({ type }) => type === 'simulator')?.past_s
}

test('the length of the past has a unit, and is refused in the words of the flag', () => {
  for (const [text, seconds] of [
    ['0', 0],
    ['90', 90],
    ['1s', 1],
    ['10m', 600],
    ['24h', 86_400],
    ['1d', 86_400],
  ] as const)
    assert.equal(pastOf(text), seconds, text)
  for (const text of ['', '-1h', '25h', '86401', '2d', '999999d', '1y', '1e3', ' 1h', '1h30m', '∞', 'x'.repeat(5000)])
    assert.throws(
      () => pastOf(text),
      (error) =>
        error instanceof ConfigError &&
        error.message ===
          `--simulate-past is ${JSON.stringify(text.slice(0, 100))}; allowed: 0, or a time such as 10m or 1h, at most 1d`,
      text,
    )
})
