import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RecordType } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { NvmlDouble } from '../../../../../test/doubles/nvml/nvml-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { podShareType } from '../pods/type.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { nvml } from './nvml.ts'
import { nvmlFabricType, nvmlMigInfoType, nvmlMigType } from './type.ts'

const NEEDS = needs('cc')

function bringUp(t: TestContext) {
  const node = new TestNode(t)
  node.link('proc/self/ns/pid', 'pid:[4026531836]')
  const double = new NvmlDouble(t)
  const tested = new TestedSource(nvml, { ...node.paths, nvml_library: double.folder })
  t.after(() => tested.source.close())
  const sample = async () => {
    await tested.source.sample()
    return tested.take()
  }
  const of = (taken: Awaited<ReturnType<typeof sample>>, type: RecordType) =>
    taken.filter((one) => one.type === type).map(({ record }) => record)
  return { node, double, tested, sample, of }
}

test('MIG instances have parent, profile, memory, activity and the processes of their pods', NEEDS, async (t) => {
  const { node, double, sample, of } = bringUp(t)
  node.write('proc/9/stat', `9 (python3) S ${'0 '.repeat(18)}50 ${'0 '.repeat(30)}\n`)
  node.write('proc/9/cgroup', '0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n')
  const [one, two] = [
    { gi: 9, slices: 1, uuid: 1 },
    { gi: 2, slices: 3, uuid: 2, used_mib: 500 },
  ].map((mig, at) =>
    // The place between them is empty.
    Object.fromEntries(Object.entries(mig).map(([name, value]) => [`gpu0.mig${2 * at}.${name}`, value])),
  )
  const processes = { 'gpu0.mig2.processes': 1, 'gpu0.mig2.process0.pid': 9, 'gpu0.mig2.process0.memory': 4096 }
  double.play({ gpus: 1, 'gpu0.mig': 1, 'gpu0.mig0.nameless': 1, ...one, ...two, ...processes })
  const taken = await sample()
  assert.deepEqual(
    of(taken, nvmlMigInfoType).map(({ UUID, GPU_I_ID, GPU_I_PROFILE, MIG_UUID, slices }) => [
      ...[UUID, GPU_I_ID, GPU_I_PROFILE, MIG_UUID, slices],
    ]),
    [
      ['GPU-00000000-double', 9, '1g.10gb', 'MIG-00000001-double', 1],
      ['GPU-00000000-double', 2, '3g.30gb', 'MIG-00000002-double', 3],
    ],
  )
  assert.deepEqual(
    of(taken, nvmlMigType).map(({ fb_total, fb_used, fb_free, sm_active }) => [fb_total, fb_used, fb_free, sm_active]),
    [
      [9856, 100, 9724, undefined],
      [29_568, 500, 29_036, undefined],
    ],
  )
  const [share] = of(taken, podShareType)
  assert.deepEqual(
    [share?.pod, share?.GPU_I_ID, share?.memory_used_bytes, share?.util_ratio],
    ['4711', '2', 4096, undefined],
  )
  const reasons = of(taken, absenceType).filter(({ type }) => type === 'pod_share')
  assert.match(String(reasons[0]?.reason), /no utilisation of processes on a GPU that MIG has split/)
  const active = await until('the activity of instances', async () => {
    const found = of(await sample(), nvmlMigType)
    return found.length === 2 && found.every(({ sm_active }) => sm_active !== undefined) && found
  })
  assert.deepEqual(
    active.map(({ sm_active }) => Math.round(Number(sm_active) * 1000)),
    [110, 40],
  )
})

test('the series of an instance end before those of the next instance with its id begin', NEEDS, async (t) => {
  const { double, sample, of } = bringUp(t)
  const play = (uuid: number, slices: number) =>
    double.play({ gpus: 1, 'gpu0.mig': 1, 'gpu0.mig0.gi': 1, 'gpu0.mig0.uuid': uuid, 'gpu0.mig0.slices': slices })
  play(1, 1)
  await sample()
  play(2, 2)
  const taken = await sample()
  const places = taken.map(({ type, record }, at) => [
    at,
    type === absenceType && record.code === 'gone' && record.type === 'nvml_mig' ? 'end' : '',
    type === nvmlMigType ? 'begin' : '',
  ])
  const place = (what: string) => Number(places.find((each) => each.includes(what))?.[0] ?? Number.NaN)
  assert.ok(place('end') < place('begin'), JSON.stringify(places.filter(([, end, begin]) => end || begin)))
  assert.match(String(taken[place('end')]?.record.series), /GPU_I_ID="1",GPU_I_PROFILE="1g\.10gb"/)
  assert.equal(taken[place('begin')]?.record.GPU_I_PROFILE, '2g.20gb')
  double.play({ gpus: 1 })
  const ended = of(await sample(), absenceType).filter(({ code }) => code === 'gone')
  assert.deepEqual(ended.map(({ type, reason }) => `${type}: ${reason}`).sort(), [
    'nvml_mig: MIG is off',
    'nvml_mig_info: MIG is off',
  ])
})

test('the NVLink domain has state, cluster, clique and health, from new drivers and old ones', NEEDS, async (t) => {
  const { double, sample, of } = bringUp(t)
  double.play({ gpus: 1 })
  const none = await sample()
  assert.deepEqual(of(none, nvmlFabricType), [])
  assert.match(
    String(of(none, absenceType).find(({ type }) => type === 'nvml_fabric')?.reason),
    /belongs to no NVLink domain/,
  )
  // Degraded bandwidth is true, route recovery false, an unhealthy route true; the fourth is not supported.
  const mask = 0b01_10_01
  double.play({ gpus: 1, 'gpu0.fabric_state': 3, 'gpu0.fabric_mask': mask, 'gpu0.fabric_summary': 2 })
  const [fresh] = of(await sample(), nvmlFabricType)
  assert.deepEqual(
    [fresh?.cluster, fresh?.clique, fresh?.state, fresh?.status, fresh?.summary],
    ['a5a5a5a5-a5a5-a5a5-a5a5-a5a5a5a5a5a5', 7, 3, 0, 2],
  )
  const conditions = [fresh?.degraded_bandwidth, fresh?.route_recovery, fresh?.route_unhealthy]
  assert.deepEqual([...conditions, fresh?.access_timeout_recovery], [1, 0, 1, undefined])
  double.play({ gpus: 1, 'gpu0.fabric_state': 2, 'gpu0.fabric_version': 2 })
  const [old] = of(await sample(), nvmlFabricType)
  assert.deepEqual([old?.cluster, old?.state, old?.status, old?.summary], ['', 2, undefined, undefined])
})
