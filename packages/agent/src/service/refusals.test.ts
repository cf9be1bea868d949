import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { Refusals } from './refusals.ts'

/** Refusals with a clock and a log of the test. */
function told() {
  const lines: { code: string; program?: string; untold: number }[] = []
  const write = (line: string) => {
    const keys = [...line.matchAll(/"(\w+)":/g)].map(([, key]) => key)
    assert.equal(new Set(keys).size, keys.length, `a key comes twice: ${line}`)
    lines.push(JSON.parse(line))
  }
  const log = pino({ level: 'warn' }, { write })
  const clock = { ms: 0 }
  const refusals = new Refusals(log, () => clock.ms)
  const refuse = (program: string, code = 'IPC_LIMIT') =>
    refusals.tell(
      { protocol: 3, client: 1n, secret: '', heard: 0n, pid: 7, program, version: '' },
      { code, message: 'too many' },
    )
  return { lines, clock, refuse, refusals }
}

test('a program is told of once a minute for each reason, with how often it was since', () => {
  const { lines, clock, refuse, refusals } = told()
  for (let i = 0; i < 100; i++) refuse('trainer')
  refuse('trainer', 'IPC_FRAME')
  refuse('loader')
  refusals.tell(undefined, { code: 'IPC_LIMIT', message: 'silent' })
  clock.ms = 60_000
  refuse('trainer')
  assert.deepEqual(
    lines.map(({ code, program, untold }) => [code, program, untold]),
    [
      ['IPC_LIMIT', 'trainer', 0],
      ['IPC_FRAME', 'trainer', 0],
      ['IPC_LIMIT', 'loader', 0],
      ['IPC_LIMIT', undefined, 0],
      ['IPC_LIMIT', 'trainer', 99],
    ],
  )
})

test('a client that has a new name each time fills no log, and others are told of a minute later', () => {
  const { lines, clock, refuse } = told()
  for (let i = 0; i < 1000; i++) refuse(`name ${i}`)
  assert.equal(lines.length, 64)
  clock.ms = 60_000
  refuse('trainer')
  assert.equal(lines.at(-1)?.program, 'trainer')
})
