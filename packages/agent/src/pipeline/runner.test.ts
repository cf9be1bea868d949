import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { until } from '../../../sdk/test/helper.ts'
import { netdev } from '../sources/netdev/netdev.ts'
import type { NodeSource, Probe } from '../sources/source.ts'
import { SourceRunner } from './runner.ts'
import { SourceStats } from './source-stats.ts'

interface Rig {
  readonly runner: SourceRunner
  readonly calls: string[]
  readonly states: string[]
  reached(state: string): Promise<void>
}

function rigOf(behaviour: Partial<NodeSource>): Rig {
  const calls: string[] = []
  const states: string[] = []
  const called = (name: keyof NodeSource, usual: () => unknown) => () => {
    calls.push(name)
    return (behaviour[name] ?? usual)() as never
  }
  const present: Probe = { state: 'present', found: '1 device' }
  const runner = new SourceRunner({
    name: 'tested',
    definition: netdev,
    intervalMs: 10,
    source: {
      open: called('open', () => undefined),
      probe: called('probe', () => present),
      sample: called('sample', () => undefined),
      close: called('close', () => undefined),
    },
    stats: new SourceStats(),
    afterSample: () => calls.push('flush'),
    onState: (state) => states.push(state),
  })
  return {
    runner,
    calls,
    states,
    async reached(state) {
      await until(state, () => states.includes(state))
    },
  }
}

test('a sample that fails is flushed too: what it reported before holds', async () => {
  const failing = { sample: () => Promise.reject(new Error('the folder is gone')) }
  const { runner, calls, reached } = rigOf(failing)
  runner.start(0)
  await reached('failed')
  await runner.stop(1000)
  assert.ok(calls.includes('flush'), calls.join(' '))
})

test('opens once, probes, then samples and flushes', async () => {
  const { runner, calls, reached } = rigOf({})
  assert.equal(runner.settled, false)
  runner.start(0)
  await reached('reading')
  await runner.stop(1000)
  assert.deepEqual(calls.slice(0, 4), ['open', 'probe', 'sample', 'flush'])
  assert.equal(calls.filter((call) => call === 'open').length, 1)
  assert.equal(calls.at(-1), 'close')
  assert.equal(runner.found, '1 device')
  assert.ok(runner.stats.samples >= 1)
})

test('absent hardware is settled, not sampled, and not looked for at every tick', async () => {
  const { runner, calls, reached } = rigOf({ probe: () => ({ state: 'absent', reason: 'no such device' }) })
  const twin = rigOf({})
  runner.start(0)
  await reached('absent')
  twin.runner.start(0)
  await until('five samples', () => twin.runner.stats.samples >= 5)
  await Promise.all([runner.stop(1000), twin.runner.stop(1000)])
  assert.ok(runner.settled)
  assert.equal(runner.reason, 'no such device')
  assert.equal(calls.filter((call) => call === 'probe').length, 1)
  assert.ok(!calls.includes('sample'))
  assert.equal(runner.stats.errors, 0)
})

test('a sample that throws is counted and tried again', async () => {
  let failures = 3
  const { runner, states, reached } = rigOf({
    sample() {
      if (failures-- > 0) throw new Error('cannot read')
    },
  })
  runner.start(0)
  await reached('failed')
  assert.equal(runner.reason, 'cannot read')
  await reached('reading')
  await runner.stop(1000)
  assert.deepEqual(states, ['failed', 'reading'])
  assert.equal(runner.stats.errors, 3)
})

test('a call over its limit is said as stuck', async () => {
  const { runner, reached } = rigOf({
    sample: () => Promise.reject(new SondeError('AGT_CALL_LIMIT', 'sample took longer than 100 ms')),
  })
  runner.start(0)
  await reached('stuck')
  await runner.stop(1000)
  assert.match(runner.reason, /longer than 100 ms/)
})

test('stopping while a sample hangs ends at the limit', { timeout: 60_000 }, async () => {
  let sampling = false
  const { runner } = rigOf({
    sample() {
      sampling = true
      return new Promise(() => undefined)
    },
  })
  runner.start(0)
  await until('a sample', () => sampling)
  await runner.stop(50)
})
