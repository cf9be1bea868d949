import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOST_QUERIES, hostColumns } from '../host-data.ts'
import type { NodeFacts } from '../node/headline.ts'
import { testColumns } from '../test-columns.ts'
import { cpuCharts, MODE_QUERY } from './cpu-charts.ts'
import { filesystemState } from './filesystem-state.ts'
import { hostHeadline } from './host-headline.ts'
import { diskRows, filesystemRows, hasHostTypes } from './host-rows.ts'
import { PRESSURE_CAUSE_QUERIES, pressureCauses } from './pressure-causes.ts'

const NOW = { stepMs: 1000, isNow: true }
const GAP = Number.NaN
const CALM: NodeFacts = {
  ...{ interfaces: [], received: GAP, sent: GAP, busy: 0.5, memoryAvailable: 0.6, pressure: [] },
  pressureSpanMs: 10_000,
}

/** Answers about file systems: size, available and files free of each, in parts of 100. */
function filesystems(...given: readonly (readonly [mountpoint: string, size: number, left: number, files: number])[]) {
  const of = (name: string, value: (row: (typeof given)[number]) => number) => ({
    query: { metric: `host_filesystem_${name}`, function: 'last' } as const,
    series: given.map((row) => ({
      labels: { mountpoint: row[0], fstype: 'ext4' },
      values: [value(row)],
    })),
  })
  return filesystemRows(
    testColumns([
      of('size_bytes', ([, size]) => size),
      of('available_bytes', ([, , left]) => left),
      of('files', () => 100),
      of('files_free', ([, , , files]) => files),
      of('read_only', () => 0),
    ]),
    NOW,
  )
}

test('the fullest file system comes first, by its space or by its files', () => {
  const rows = filesystems(['/', 100, 50, 90], ['/data', 100, 60, 1], ['/var', 100, 5, 90])
  assert.deepEqual(
    rows.map((row) => [row.mountpoint, filesystemState(row).word]),
    [
      ['/data', 'No files left'],
      ['/var', 'Little space left'],
      ['/', 'Has room'],
    ],
  )
  const { tone, sentence, facts } = hostHeadline(CALM, rows)
  assert.equal(tone, 'critical')
  assert.match(sentence, /^No files left on \/data: 1\.0\s% of its files are free/)
  assert.match(facts, /And 1 more\.$/)
})

test('a file system that says no size is left out, and an image is no trouble', () => {
  assert.deepEqual(filesystems(['/gone', GAP, 1, 1]), [])
  const [row] = filesystems(['/cdrom', 100, 0, 100])
  assert.equal(filesystemState({ ...row!, fstype: 'squashfs' }).tone, 'ok')
  assert.equal(filesystemState({ ...row!, isReadOnly: true }).word, 'Read-only')
})

test('a host with room says so, and one whose tasks wait says that first', () => {
  const { sentence } = hostHeadline(CALM, filesystems(['/', 100, 50, 50]))
  assert.match(sentence, /^1\sfile system with room; memory and processors are not short\.$/)
  const waiting = { ...CALM, pressure: [{ name: 'io', share: 0.5 }] }
  assert.match(hostHeadline(waiting, []).sentence, /^Tasks wait for a disk 50\.0\s% of the time/)
})

test('the time of a request is that of the requests that ended, and absent where none did', () => {
  const of = (name: string, values: readonly number[]) => ({
    query: { metric: `host_disk_${name}`, function: 'rate' } as const,
    series: [
      { labels: { disk: 'vda' }, values: [values[0]!] },
      { labels: { disk: 'vdb' }, values: [values[1]!] },
    ],
  })
  const rows = diskRows(
    testColumns([of('reads_total', [10, 0]), of('read_seconds_total', [0.02, 0]), of('io_seconds_total', [0.1, 0.4])]),
    NOW,
  )
  assert.deepEqual(
    rows.map(({ disk, readTime, writeTime }) => [disk, readTime, writeTime]),
    [
      ['vdb', GAP, GAP],
      ['vda', 0.002, GAP],
    ],
  )
})

test('modes are shares of all CPUs, and each CPU has its row', () => {
  const answer = testColumns([
    { query: MODE_QUERY, series: [{ labels: { mode: 'user' }, values: [1] }] },
    {
      query: HOST_QUERIES.idle,
      series: [
        { labels: { cpu: '0' }, values: [0] },
        { labels: { cpu: '1' }, values: [1] },
      ],
    },
  ])
  const [modes, cores] = cpuCharts(answer, hostColumns(answer))
  assert.deepEqual(
    modes?.members.map(({ label, values }) => [label, ...values]),
    [['programs', 0.5]],
  )
  assert.deepEqual(
    cores?.members.map(({ label, values }) => [label, ...values]),
    [
      ['CPU 0', 1],
      ['CPU 1', 0],
    ],
  )
})

test('of many CPUs the busiest are on top, and idle CPUs are counted instead of drawn', () => {
  const idle = Array.from({ length: 30 }, (_, cpu) => (cpu % 3 === 0 ? 1 - cpu / 100 : 1))
  const series = idle.map((share, cpu) => ({ labels: { cpu: String(cpu) }, values: [share] }))
  const answer = testColumns([{ query: HOST_QUERIES.idle, series }])
  const cores = cpuCharts(answer, hostColumns(answer)).find(({ id }) => id === 'cpu-cores')
  const names = cores?.members.map(({ label }) => label) ?? []
  assert.deepEqual([names.length, names[0], names.at(-1)], [9, 'CPU 3', 'CPU 27'])
  assert.equal(cores?.caption, 'busy, the busiest on top, without 21\u00a0idle CPUs')
})

test('control groups that wait: the longest wait first, with the owner where it is known', () => {
  const waits = [
    ['io', '/system.slice/a.service', '', 0.1],
    ['memory', '/kubepods.slice/pod1', 'pod training/trainer-0', 0.4],
  ] as const
  const of = (read: readonly number[]) =>
    pressureCauses(
      testColumns(
        PRESSURE_CAUSE_QUERIES.map((query) => {
          const series = waits.map(([resource, cgroup, owner, value]) => {
            return { labels: { resource, cgroup, owner }, values: [value] }
          })
          if (query.metric === 'host_cgroups_groups_read') return { query, series: [{ labels: {}, values: read }] }
          return { query, series: query.metric === 'host_cgroup_pressure_waiting_ratio' ? series : [] }
        }),
      ),
      NOW,
    )
  assert.equal(of([]), undefined, 'nothing searches')
  assert.deepEqual(
    of([3])?.rows.map(({ resource, owner, waiting, stalled }) => [resource, owner, waiting.value, stalled.value]),
    [
      ['memory', 'pod training/trainer-0', 0.4, GAP],
      ['io', '', 0.1, GAP],
    ],
  )
})

test('a simulated node alone has no host: the page says so in place of empty panels', () => {
  const named = (...names: readonly string[]) => names.map((name) => ({ name }))
  assert.equal(hasHostTypes(named('netdev', 'host_pressure', 'nvml_gpu')), false)
  assert.equal(hasHostTypes(named('host_pressure', 'host_load')), true)
})
