import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { absenceType } from '@sonde/sdk/internal'
import { TestedSource, TestNode } from '../test-node.ts'
import { CgroupSearch } from './cgroup-search.ts'
import { hostCgroupPressureType, hostCgroupsType } from './cgroup-type.ts'
import { host } from './host.ts'
import { cgroupLabel, parseShares } from './parse-cgroups.ts'

const fixture = new URL('fixtures/guest', import.meta.url)
const ROOT = 'sys/fs/cgroup'
const POD = 'kubepods.slice/kubepods-burstable.slice'
const UID = '0c7b0a52_4f0e_4b1f_9a63_0d1b8f1c2a11'
const CONTAINER = 'ab'.repeat(32)

/** Percent of the last ten seconds, for each resource that waits. */
interface Waits {
  readonly cpu?: number
  readonly memory?: number
  readonly io?: number
}

function nodeWith(t: TestContext) {
  const node = new TestNode(t, fixture)
  node.write(`${ROOT}/cgroup.controllers`, 'cpuset cpu io memory\n')
  const group = (path: string, waits: Waits = {}) => {
    for (const resource of ['cpu', 'memory', 'io'] as const)
      node.write(`${ROOT}/${path}/${resource}.pressure`, textOf(waits[resource] ?? 0))
  }
  const { now } = performance
  let passedMs = 0
  performance.now = () => now.call(performance) + passedMs
  t.after(() => {
    performance.now = now
  })
  const tested = new TestedSource(host, node.paths, { parts: ['cgroup_pressure'], root_folder: node.root })
  t.after(() => tested.source.close())
  /** Samples until the next search has ended; its rows, the longest wait first. */
  const search = async () => {
    passedMs += 11_000
    for (let sweep = 0; sweep < 40; sweep++) await tested.source.sample()
    tested.take()
    await tested.source.sample()
    return tested.take()
  }
  return { node, tested, group, search }
}

function textOf(percent: number): string {
  const line = (kind: string, share: number) => `${kind} avg10=${share.toFixed(2)} avg60=0.00 avg300=0.00 total=1234\n`
  return line('some', percent) + line('full', percent / 2)
}

type Rows = ReturnType<TestedSource['take']>

const causes = (rows: Rows) =>
  rows
    .filter(({ type }) => type === hostCgroupPressureType)
    .map(({ record }) => [record.resource, record.cgroup, record.waiting_ratio, record.owner])
const counts = (rows: Rows) => {
  const record = rows.find(({ type }) => type === hostCgroupsType)?.record
  return [record?.groups_read, record?.groups_skipped]
}

test('the group at the bottom that waits is named, not those above it; calm groups are not searched', async (t) => {
  const { node, group, search } = nodeWith(t)
  const pod = `${POD}/kubepods-burstable-pod${UID}.slice`
  for (const path of ['kubepods.slice', POD, pod, `${pod}/cri-containerd-${CONTAINER}.scope`])
    group(path, { memory: 40, io: 0.5 })
  group('system.slice', { io: 12 })
  for (const unit of ['a', 'b', 'c']) group(`system.slice/${unit}.service`, { io: 4 })
  group('user.slice')
  group('user.slice/user-1000.slice', { io: 90 })
  node.write(`var/log/pods/training_trainer-0_${UID.replaceAll('_', '-')}/keep`, '')
  // Names of pods are read beside the sweeps.
  let rows = await search()
  for (; causes(rows)[0]?.[3] !== 'pod training/trainer-0'; rows = await search()) await immediate()
  const memory = `/${pod}/cri-containerd-${CONTAINER}.scope`
  assert.deepEqual(causes(rows), [
    ['memory', memory, 0.4, 'pod training/trainer-0'],
    ['io', '/system.slice', 0.12, ''],
    ...['a', 'b', 'c'].map((unit) => ['io', `/system.slice/${unit}.service`, 0.04, `service ${unit}.service`]),
  ])
  assert.deepEqual(counts(rows), [9n, 0n])
})

test('five groups of each resource are shown, and one that leaves them is gone', async (t) => {
  const { tested, group, search } = nodeWith(t)
  for (let index = 1; index <= 7; index++) group(`job${index}`, { cpu: 10 * index })
  assert.deepEqual(
    causes(await search()).map(([, cgroup]) => cgroup),
    ['/job7', '/job6', '/job5', '/job4', '/job3'],
  )
  group('job7', { cpu: 5 })
  assert.deepEqual(
    causes(await search()).map(([, cgroup]) => cgroup),
    ['/job6', '/job5', '/job4', '/job3', '/job2'],
  )
  assert.ok(![...tested.absent.keys()].some((key) => key.includes('job7')))
})

test('thousands of groups take many short turns, have an end, and those left out are counted', async (t) => {
  const { node, group } = nodeWith(t)
  for (let index = 0; index < 4200; index++) node.write(`${ROOT}/job${index}/cpu.pressure`, textOf(2))
  group('deep', { io: 50 })
  const search = new CgroupSearch(`${node.root}/${ROOT}`)
  let turns = 1
  let found = search.step(0)
  // A turn whose time is over reads a single group.
  for (; found === undefined; turns++) found = search.step(0)
  assert.equal(found.read, 4096)
  assert.equal(found.skipped, 105)
  assert.ok(turns > 4096)
})

test('a flood of new groups becomes a bounded number of series', async (t) => {
  const { node, tested, group, search } = nodeWith(t)
  for (let round = 0; round < 30; round++) {
    node.remove(`${ROOT}/job${round - 1}-0`)
    for (let index = 0; index < 5; index++) {
      if (round > 0) node.remove(`${ROOT}/job${round - 1}-${index}`)
      group(`job${round}-${index}`, { cpu: 50 })
    }
    await search()
  }
  assert.equal(tested.dropped.get('cgroup_limit'), 30)
})

test('version 1, a group of its own, and a kernel that measures nothing: absent, with the reason', async (t) => {
  const { node, tested, group } = nodeWith(t)
  const reason = async () => {
    const fresh = new TestedSource(host, node.paths, { parts: ['cgroup_pressure'], root_folder: node.root })
    await fresh.source.sample()
    const found = fresh.take().find(({ type }) => type === absenceType)?.record
    await fresh.source.close()
    return String(found?.reason)
  }
  node.write(`${ROOT}/cgroup.type`, 'domain\n')
  assert.match(await reason(), /shows only the control group of Sonde: mount that of the node/)
  node.unlink(`${ROOT}/cgroup.type`)
  node.unlink(`${ROOT}/cgroup.controllers`)
  assert.match(await reason(), /has control groups of version 1, which have no pressure$/)
  node.remove(ROOT)
  assert.match(await reason(), /is not there: control groups are not mounted$/)
  group('x')
  await tested.source.close()
})

test('names that users give to groups cannot disturb a page, and content is checked', () => {
  assert.equal(cgroupLabel('/a\u001b[31m\n\u202eb'), '/a\ufffd[31m\ufffd\ufffdb')
  assert.equal(cgroupLabel(`/${'x'.repeat(5000)}`).length, 256)
  assert.deepEqual(parseShares(textOf(3)), { waiting: 0.03, stalled: 0.015 })
  for (const wrong of ['', 'some avg10=x total=1', 'some avg10=1e9 avg60=0', 'full avg10=1.00 avg60=0.00'])
    assert.equal(parseShares(wrong), undefined, wrong)
})

test('a folder with very many groups is read a few at a time', (t) => {
  const node = new TestNode(t)
  const root = join(node.root, 'many')
  for (let number = 0; number < 5000; number++) mkdirSync(join(root, `${number}`), { recursive: true })
  const search = new CgroupSearch(root)
  assert.equal(search.step(0), undefined)
  // What was not read yet is never found.
  rmSync(root, { recursive: true })
  const found = search.step(Number.POSITIVE_INFINITY)
  assert.ok(found !== undefined && found.read + found.skipped < 4000, `${found?.read} ${found?.skipped}`)
  search.close()
})
