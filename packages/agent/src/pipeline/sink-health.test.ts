import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource, type Sink, sinkStats } from '@sonde/sdk'
import { Route } from '@sonde/sdk/internal'
import pino from 'pino'
import { SinkHealth } from './sink-health.ts'

test('the log says once that a sink fails, whatever the reason says meanwhile, and once that it is well again', () => {
  const lines: string[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) })
  const health = new SinkHealth(log)
  const source = createSource({ id: 'self', emit: () => undefined })
  let failing = ''
  const settled = Promise.resolve()
  const sink: Sink = {
    name: 'files',
    stats: sinkStats(),
    get failing() {
      return failing
    },
    accept: () => undefined,
    flush: () => settled,
    close: () => settled,
  }
  const seconds: readonly (readonly [number, string])[] = [
    [1, ''],
    [2, 'no space for 1.bin'],
    [3, ''],
    [4, 'no space for 2.bin'],
    [13, ''],
    [14, ''],
    [15, ''],
  ]
  for (const [second, reason] of seconds) {
    failing = reason
    health.report(source, new Route(sink), second * 1000)
  }
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { level: 40, sink: 'files', reason: 'no space for 1.bin', msg: 'a sink fails' },
      { level: 30, sink: 'files', msg: 'a sink is well again' },
    ],
  )
})
