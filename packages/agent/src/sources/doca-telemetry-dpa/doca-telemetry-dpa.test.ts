import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startTimeOf } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice, type DoubleProcess } from '../../../../../test/doubles/doca/doca-double.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { docaTelemetryDpa } from './doca-telemetry-dpa.ts'
import { docaDpaProcessType, docaDpaThreadType } from './type.ts'

const NEEDS = needs('cc')
const SECOND_NS = 1_000_000_000n
const NOTES = join(tmpdir(), 'sonde-devices')

const PROCESS: DoubleProcess = {
  id: 7,
  name: 'pcc',
  threads: [
    { id: 1, name: 'rx', ticks: 250_000_000, cycles: 1000, instructions: 300, executions: 5 },
    { id: 2, ticks: 1_000_000_000, cycles: 2 ** 40, instructions: 1, executions: 0 },
  ],
}

const suite = NEEDS.skip === false ? new DocaDouble({ after }) : undefined
suite?.play({ mlx5_0: { processes: [PROCESS] } })

testSource(docaTelemetryDpa, { ...NEEDS, paths: { doca_library: suite?.folder ?? '' } })

/** Reads a device of a double whose clock stands still at its start. */
function bringUp(t: TestContext, device: DoubleDevice = { processes: [PROCESS] }) {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: device })
  double.setElapsed(0n)
  const open = () => {
    const tested = new TestedSource(docaTelemetryDpa, { ...new TestNode(t).paths, doca_library: double.folder })
    t.after(() => tested.source.close())
    return tested
  }
  /** Whether the counter of a process runs, in the file of the double. */
  const counterOf = (process: number) => join(double.folder, `dpa-mlx5_0-${process}`)
  const isCounting = (process: number) => existsSync(counterOf(process))
  return { double, open, isCounting, counterOf }
}

/** The notes that this test made: those since `before`. */
function notesSince(before: readonly string[]): string[] {
  return globSync('dpa-*', { cwd: NOTES }).filter((name) => !before.includes(name))
}

const notesNow = () => globSync('dpa-*', { cwd: NOTES })

/** A process that has ended. */
function endedProcess(): number {
  return spawnSync('true').pid
}

test('threads have the use of the accelerator since the counter was started', NEEDS, async (t) => {
  const { double, open } = bringUp(t)
  const tested = open()
  await tested.source.sample()
  tested.take()
  double.setElapsed(4n * SECOND_NS)
  await tested.source.sample()
  const taken = tested.take()
  const of = (type: object) => taken.filter((one) => one.type === type).map(({ record: { time: _, ...rest } }) => rest)
  assert.deepEqual(of(docaDpaProcessType), [{ rdma_device: 'mlx5_0', process: 7, name: 'pcc', threads: 2 }])
  assert.deepEqual(of(docaDpaThreadType), [
    {
      rdma_device: 'mlx5_0',
      process: 7,
      thread: 1,
      name: 'rx',
      active_seconds_total: 1,
      cycles_total: 4000n,
      instructions_total: 1200n,
      executions_total: 20n,
    },
    {
      rdma_device: 'mlx5_0',
      process: 7,
      thread: 2,
      name: '',
      active_seconds_total: 4,
      cycles_total: 2n ** 42n,
      instructions_total: 4n,
      executions_total: 0n,
    },
  ])
})

test('the counter that the source started is stopped at its end, and the note goes', NEEDS, async (t) => {
  const { open, isCounting } = bringUp(t)
  const before = notesNow()
  const tested = open()
  await tested.source.sample()
  assert.ok(isCounting(7))
  assert.equal(notesSince(before).length, 1)
  await tested.source.close()
  assert.ok(!isCounting(7))
  assert.deepEqual(notesSince(before), [])
})

test('the counter that another program started is read and never stopped', NEEDS, async (t) => {
  const { open, isCounting, counterOf, double } = bringUp(t)
  writeFileSync(counterOf(7), '0\n')
  double.setElapsed(SECOND_NS)
  const tested = open()
  const threads = await tested.sampleOf(docaDpaThreadType)
  assert.equal(threads[0]?.cycles_total, 1000n)
  await tested.source.close()
  assert.ok(isCounting(7))
})

/** Rewrites the only new note as if a process had written it. */
function rewriteNote(before: readonly string[], pid: number, start: number): void {
  const [name = assert.fail('no note')] = notesSince(before)
  const [, , ...rest] = readFileSync(join(NOTES, name), 'utf8').trim().split(' ')
  writeFileSync(join(NOTES, name), `${[pid, start, ...rest].join(' ')}\n`)
}

test('after a crash the next Sonde continues the counter, and stops it at its end', NEEDS, async (t) => {
  const { open, isCounting, double } = bringUp(t)
  const before = notesNow()
  await open().source.sample()
  rewriteNote(before, endedProcess(), 1)
  double.setElapsed(2n * SECOND_NS)
  const next = open()
  const threads = await next.sampleOf(docaDpaThreadType)
  assert.equal(threads[0]?.cycles_total, 2000n, 'it was not restarted')
  await next.source.close()
  assert.ok(!isCounting(7))
  assert.deepEqual(notesSince(before), [])
})

test('the counter of another Sonde that runs is not stopped', NEEDS, async (t) => {
  const { open, isCounting } = bringUp(t)
  const before = notesNow()
  await open().source.sample()
  rewriteNote(before, process.ppid, Number(startTimeOf(process.ppid)))
  const second = open()
  await second.source.sample()
  await second.source.close()
  assert.ok(isCounting(7))
})

test('a counter that another program stops is started again, and stopped at the end', NEEDS, async (t) => {
  const { open, isCounting, counterOf, double } = bringUp(t)
  const tested = open()
  await tested.source.sample()
  rmSync(counterOf(7))
  tested.take()
  await tested.source.sample()
  const reasons = tested.take().map(({ record }) => record.reason)
  assert.ok(reasons.includes('another program stopped the counter'))
  await tested.source.sample()
  tested.take()
  double.setElapsed(SECOND_NS)
  const threads = await tested.sampleOf(docaDpaThreadType)
  assert.deepEqual([threads[0]?.cycles_total, isCounting(7)], [1000n, true])
  await tested.source.close()
  assert.ok(!isCounting(7))
})

test('processes and threads that end leave, and new ones come', NEEDS, async (t) => {
  const { double, open } = bringUp(t)
  const tested = open()
  await tested.source.sample()
  tested.take()
  double.play({ mlx5_0: { processes: [{ id: 8, threads: [{ id: 3 }] }] } })
  await tested.source.sample()
  const taken = tested.take()
  const gone = taken.filter(({ record }) => record.code === 'gone').map(({ record }) => String(record.series))
  for (const thread of ['1', '2'])
    assert.ok(
      gone.some((series) => series.includes(`thread="${thread}"`)),
      thread,
    )
  assert.deepEqual(
    taken.filter(({ type }) => type === docaDpaThreadType).map(({ record }) => [record.process, record.thread]),
    [[8, 3]],
  )
})

test('a counter that cannot start costs only its process, with the reason', NEEDS, async (t) => {
  const { double, open } = bringUp(t)
  double.play({ mlx5_0: { processes: [PROCESS] } }, [
    'error doca_telemetry_dpa_counter_start DOCA_ERROR_NOT_SUPPORTED 1',
  ])
  const tested = open()
  assert.equal((await tested.sampleOf(docaDpaProcessType)).length, 1)
  const absent = [...tested.absent].filter(([key]) => key.startsWith('doca_dpa_thread{') && key.includes('process="7"'))
  assert.deepEqual(
    absent.map(([, code]) => code),
    ['unsupported'],
  )
  assert.equal((await tested.sampleOf(docaDpaThreadType)).length, 2, 'it is tried again')
})

test('without a process the accelerator says so', NEEDS, async (t) => {
  const tested = bringUp(t, { facts: { dpa_needs_process: 0 } }).open()
  await tested.source.sample()
  tested.take()
  assert.equal(tested.absent.get('doca_dpa_process{rdma_device="mlx5_0"}.'), 'unsupported')
  const refused = bringUp(t, {}).open()
  await refused.source.sample()
  await assert.rejects(refused.source.sample(), /doca_telemetry_dpa_start answers DRIVER, no process runs/)
})

for (const call of ['get_process_list_size', 'get_cumul_samples_size'] as const) {
  test(`a size of ${call} that cannot be is not believed`, NEEDS, async (t) => {
    const { double, open } = bringUp(t)
    double.play({ mlx5_0: { processes: [PROCESS] } }, [`claim doca_telemetry_dpa_${call} 100000000`])
    const tested = open()
    await tested.source.sample()
    assert.match(String(tested.thrown[0]), new RegExp(`${call} answers TOO_BIG`))
  })
}

test('more entries than the size has room for are not read', NEEDS, async (t) => {
  const { double, open } = bringUp(t)
  double.play({ mlx5_0: { processes: [PROCESS] } }, ['claim doca_telemetry_dpa_read_processes_list 4000000'])
  const tested = open()
  await tested.source.sample()
  assert.deepEqual(tested.failures, [])
})
