import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Batch, readRecords, SondeError, viewsOf, wallNs } from '@sonde/sdk'
import { absenceType, markType } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { until } from '../../../sdk/test/helper.ts'
import type { Duty, LibraryDefinition, NodeSource, Probe, SourceContext, SourceDefinition } from '../sources/source.ts'
import { Host } from './host.ts'
import { SourceStatus } from './source-status.ts'

const PRESENT: Probe = { state: 'present', found: '1 device' }
const EVERY_US = 10_000
const MARK = { rule: 'r', edge: 'opened', severity: 'notice', unit: '', summary: '' }

type Replace = (duties: readonly Partial<Duty>[]) => void

/** The parts of a source that a test defines; missing parts do nothing. */
interface Behaviour {
  readonly probe?: () => Probe | Promise<Probe>
  /** `replace` gives it other duties. */
  readonly duties?: (context: SourceContext, replace: Replace) => readonly Partial<Duty>[]
  readonly close?: (context: SourceContext) => void | Promise<void>
  readonly stuck?: (device: string) => void
  readonly library?: LibraryDefinition
  readonly callLimitMs?: number
}

interface Rig {
  readonly host: Host
  readonly status: SourceStatus
  readonly calls: string[]
  readonly states: string[]
  readonly batches: Batch[]
}

/** A host that runs one source of a test. */
function rigOf(
  t: TestContext,
  { probe = () => PRESENT, duties, stuck, close, library, callLimitMs = 60_000 }: Behaviour,
): Rig {
  const calls: string[] = []
  const states: string[] = []
  const batches: Batch[] = []
  const status = new SourceStatus({ onSettled: ({ state }) => states.push(state) })
  const create = (context: SourceContext): NodeSource => {
    calls.push('create')
    const usual = { device: '', name: 'sample', everyUs: EVERY_US, run: () => undefined }
    const wholeOf = (duty: Partial<Duty>): Duty => {
      const whole = { ...usual, ...duty }
      return {
        ...whole,
        run() {
          calls.push(whole.device === '' ? whole.name : `${whole.name} ${whole.device}`)
          return whole.run()
        },
      }
    }
    let list: readonly Duty[] = []
    const replace: Replace = (others) => {
      list = others.map(wholeOf)
    }
    replace(duties?.(context, replace) ?? [{}])
    return {
      probe() {
        calls.push('probe')
        return probe()
      },
      duties: () => list,
      ...(stuck === undefined ? {} : { stuck }),
      close() {
        calls.push('close')
        return close?.(context)
      },
    }
  }
  const definition: SourceDefinition = {
    ...{ name: 'tested', summary: 'Does what a test wants', types: [absenceType], intervalMs: 10 },
    host: library?.name ?? 'agent',
    options: v.strictObject({}),
    load: async () => ({
      ...(library === undefined ? {} : { library }),
      create: (_options: object, context: SourceContext) => create(context),
    }),
  }
  const host = new Host()
  t.after(() => host.stop(50))
  const config = {
    ...{ module: '', name: 'tested', type: 'tested', options: {}, intervalMs: 10, callLimitMs, floodBytes: 1 << 20 },
    paths: { procfs: '/proc', sysfs: '/sys' },
  }
  host.start(
    { config, definition, status, accept: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) },
    0,
  )
  return { host, status, calls, states, batches }
}

const isStuck = (rig: Rig, device: string) => rig.status.stuck.some((call) => call.device === device)
const reached = (rig: Rig, state: string) => until(state, () => rig.states.includes(state))

test('makes a source once, looks, then calls it; at the end it closes it', async (t) => {
  const rig = rigOf(t, {})
  assert.equal(rig.status.state, 'starting')
  await reached(rig, 'reading')
  await until('two samples', () => rig.status.stats.samples >= 2)
  await rig.host.stop(1000)
  assert.deepEqual(rig.calls.slice(0, 4), ['create', 'probe', 'sample', 'sample'])
  assert.equal(rig.calls.filter((call) => call === 'create').length, 1)
  assert.equal(rig.calls.at(-1), 'close')
  assert.equal(rig.status.found, '1 device')
})

test('what a call reported before it failed holds', async (t) => {
  const rig = rigOf(t, {
    duties: ({ absences }) => [
      {
        run() {
          absences.set(absenceType, {}, '', 'gone', 'the folder is gone')
          return Promise.reject(new Error('the folder is gone'))
        },
      },
    ],
  })
  await reached(rig, 'failed')
  assert.ok(rig.batches.some(({ type }) => type === absenceType))
})

test('absent hardware is settled, not sampled, and not looked for at every tick', async (t) => {
  const rig = rigOf(t, { probe: () => ({ state: 'absent', reason: 'no such device' }) })
  const twin = rigOf(t, {})
  await reached(rig, 'absent')
  await until('five samples', () => twin.status.stats.samples >= 5)
  assert.equal(rig.status.reason, 'no such device')
  assert.deepEqual(rig.calls, ['create', 'probe'])
  assert.equal(rig.status.stats.errors, 0)
})

test('a call that throws is counted and tried again', async (t) => {
  let failures = 3
  const run = () => {
    if (failures-- > 0) throw new Error('cannot read')
  }
  const rig = rigOf(t, { duties: () => [{ run }] })
  await reached(rig, 'failed')
  assert.equal(rig.status.reason, 'cannot read')
  await reached(rig, 'reading')
  assert.deepEqual(rig.states, ['failed', 'reading'])
  assert.equal(rig.status.stats.errors, 3)
})

test('a look that fails is counted, and one that hangs is told as stuck', async (t) => {
  const failing = rigOf(t, { probe: () => ({ state: 'failed', reason: 'EMFILE' }) })
  await reached(failing, 'failed')
  assert.deepEqual([failing.status.reason, failing.status.stats.errors > 0], ['EMFILE', true])
  const hanging = rigOf(t, { callLimitMs: 50, probe: () => new Promise(() => undefined) })
  await reached(hanging, 'stuck')
})

test('stopping while a call hangs ends at the limit, and says which it is', { timeout: 60_000 }, async (t) => {
  const rig = rigOf(t, { duties: () => [{ device: 'dev0', run: () => new Promise(() => undefined) }] })
  await until('a call', () => rig.calls.includes('sample dev0'))
  assert.deepEqual(await rig.host.stop(50), ['tested dev0 sample'])
})

test('a device that hangs is stuck, the others go on, and it comes back', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const told: string[] = []
  let hangs = true
  const rig = rigOf(t, {
    stuck: (device) => told.push(device),
    duties: () => [
      { device: 'dev0', limitMs: 30, run: () => (hangs ? promise : undefined) },
      { device: 'dev1', run: () => undefined },
    ],
  })
  await until('stuck', () => isStuck(rig, 'dev0'))
  const before = rig.status.stats.samples
  await until('the other goes on', () => rig.status.stats.samples > before + 3)
  assert.equal(rig.status.state, 'reading')
  assert.equal(rig.calls.filter((call) => call === 'sample dev0').length, 1, 'no second call beside it')
  await until('told at every tick', () => told.length > 2)
  assert.ok(rig.status.stats.overruns > 0)
  hangs = false
  resolve()
  await until('back', () => !isStuck(rig, 'dev0'))
  await until('called again', () => rig.calls.filter((call) => call === 'sample dev0').length > 1)
})

test('of two duties of a device in lanes of their own, the call that comes back leaves the other stuck', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const sinceMs = Date.now()
  const rig = rigOf(t, {
    duties: () => [
      { device: 'dev0', name: 'wait', lane: 'wait', limitMs: 20, run: () => new Promise(() => undefined) },
      { device: 'dev0', name: 'read', limitMs: 30, limitKey: 'stuck_ms', run: () => promise },
    ],
  })
  await until('both are stuck', () => rig.status.stuck.length === 2)
  const [wait, read] = rig.status.stuck
  assert.deepEqual([wait?.duty, wait?.limitMs, wait?.limitKey], ['wait', 20, ''])
  assert.deepEqual([read?.duty, read?.limitMs, read?.limitKey], ['read', 30, 'stuck_ms'])
  assert.ok(Number(wait?.sinceMs) >= sinceMs && Number(wait?.sinceMs) <= Date.now())
  resolve()
  await until('one is back', () => rig.status.stuck.length === 1)
  assert.equal(rig.status.stuck[0]?.duty, 'wait')
})

test('duties of one device are called one after another, those of several beside one another', async (t) => {
  const library = { name: 'lib', parallel: Number.POSITIVE_INFINITY, open: () => 7, close: () => undefined }
  const open = new Map<string, number>()
  let [mostOfOne, most] = [0, 0]
  const run = (device: string) => async () => {
    open.set(device, (open.get(device) ?? 0) + 1)
    const counts = [...open.values()]
    mostOfOne = Math.max(mostOfOne, ...counts)
    most = Math.max(
      most,
      counts.reduce((sum, count) => sum + count, 0),
    )
    await new Promise((resolve) => setTimeout(resolve, 5))
    open.set(device, (open.get(device) ?? 0) - 1)
  }
  const devices = ['dev0', 'dev1', 'dev2']
  const rig = rigOf(t, {
    library,
    duties: ({ library: given }) => {
      assert.equal(given, 7)
      return devices.flatMap((device) => ['drain', 'sample'].map((name) => ({ device, name, run: run(device) })))
    },
  })
  await until('all are called', () => rig.status.stats.samples >= 12)
  assert.deepEqual([mostOfOne, most], [1, 3])
})

test('a library that allows one call has one; a call beyond its patience keeps nobody waiting', async (t) => {
  const library = { name: 'lib', parallel: 1, patienceMs: 40, open: () => 7, close: () => undefined }
  let [open, most] = [0, 0]
  const run = async () => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setTimeout(resolve, 2))
    open--
  }
  const devices = ['dev0', 'dev1', 'dev2'].map((device) => ({ device, run }))
  const rig = rigOf(t, { library, duties: () => devices })
  await until('all are called', () => rig.status.stats.samples >= 12)
  assert.equal(most, 1)
  const slow = { device: 'slow', run: () => new Promise<void>(() => undefined) }
  const other = rigOf(t, { library, duties: () => [slow, ...devices] })
  await until('the others go on', () => other.status.stats.samples >= 12)
})

test('a library that cannot be opened is a failure with its reason, and is tried again', async (t) => {
  let failures = 2
  const library = {
    ...{ name: 'lib', parallel: 1, close: () => undefined },
    open() {
      if (failures-- > 0) throw new SondeError('SRC_LIBRARY', 'libvendor.so is not there')
      return 7
    },
  }
  const rig = rigOf(t, { library })
  await reached(rig, 'failed')
  assert.equal(rig.status.reason, 'libvendor.so is not there')
  await reached(rig, 'reading')
})

test('a device that floods loses what is beyond its budget, and takes nothing from another', async (t) => {
  const rig = rigOf(t, {
    duties: ({ report }) => [
      {
        device: 'dev0',
        run() {
          for (let i = 0; i < 40_000; i++)
            report('dev0').report(markType, { ...MARK, time: wallNs(), device: 'dev0', event: i })
        },
      },
      {
        device: 'dev1',
        run: () => report('dev1').report(markType, { ...MARK, time: wallNs(), device: 'dev1', event: 0 }),
      },
    ],
  })
  const countOf = (wanted: string) =>
    rig.batches
      .filter(({ type }) => type === markType)
      .flatMap(({ bytes, count, symbols }) => [...readRecords(markType, viewsOf(bytes), count, symbols)])
      .filter(({ device }) => device === wanted).length
  await until('rows of the other', () => countOf('dev1') >= 3)
  assert.ok((rig.status.stats.dropped.get('flood') ?? 0) > 0)
  const perInterval = Math.floor((1 << 20) / markType.layout.recordBytes)
  assert.ok(countOf('dev0') >= perInterval, 'what the budget allows is there')
  assert.equal(rig.status.state, 'reading')
})

test('duties of a period that nobody had before are called once, by its first tick', async (t) => {
  const [first, second] = [{ device: 'a' }, { device: 'b' }].map((duty) => ({ ...duty, everyUs: 3_600_000_000 }))
  const rig = rigOf(t, {
    duties(_context, replace) {
      const list: Partial<Duty> = { name: 'list', run: () => replace([list, first ?? {}, second ?? {}]) }
      return [list]
    },
  })
  await until('both are called', () => ['a', 'b'].every((device) => rig.calls.includes(`sample ${device}`)))
  await until(
    'more lists',
    () => rig.calls.slice(rig.calls.indexOf('sample b')).filter((call) => call === 'list').length > 2,
  )
  assert.deepEqual(
    rig.calls.filter((call) => call.startsWith('sample')),
    ['sample a', 'sample b'],
  )
})

test('a source that cannot be closed loses no record, and its library is closed', async (t) => {
  let closed = 0
  const library = { name: 'closing', parallel: 1, open: () => ({}), close: () => void closed++ }
  const rig = rigOf(t, {
    library,
    close({ absences }) {
      absences.set(absenceType, {}, '', 'gone', 'it ends')
      throw new Error('the device is kept')
    },
  })
  await reached(rig, 'reading')
  assert.deepEqual(await rig.host.stop(1000), [])
  assert.equal(closed, 1)
  assert.ok(rig.batches.some(({ type }) => type === absenceType))
  assert.equal(rig.status.stats.failed.latest()[0]?.message, 'the device is kept')
})
