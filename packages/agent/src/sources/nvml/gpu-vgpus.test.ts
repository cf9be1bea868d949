import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { absenceType } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { NvmlDouble } from '../../../../../test/doubles/nvml/nvml-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { nvml } from './nvml.ts'
import { nvmlVgpuType } from './type.ts'

const NEEDS = needs('cc')
const GIB = 2n ** 30n
const MIB = 2n ** 20n

function bringUp(t: TestContext) {
  const double = new NvmlDouble(t)
  const tested = new TestedSource(nvml, { ...new TestNode(t).paths, nvml_library: double.folder })
  t.after(() => tested.source.close())
  const play = (numbers: Readonly<Record<string, number>>) => double.play({ gpus: 1, ...numbers })
  /** Virtual GPUs of one reading, and the words about those that are absent or ended. */
  const sample = async () => {
    await tested.source.sample()
    const taken = tested.take()
    const vgpus = taken.filter(({ type }) => type === nvmlVgpuType).map(({ record }) => record)
    const absences = taken.filter(({ type, record }) => type === absenceType && record.type === 'nvml_vgpu')
    return { taken, vgpus, absences: absences.map(({ record }) => record) }
  }
  return { tested, play, sample }
}

test('virtual GPUs have parent, machine, type, memory and use', NEEDS, async (t) => {
  const { play, sample } = bringUp(t)
  const first = { 'gpu0.vgpu0.vm': 7, 'gpu0.vgpu0.type': 40, 'gpu0.vgpu0.used_mib': 512, 'gpu0.vgpu0.sm': 40 }
  play({ 'gpu0.vgpus': 2, ...first })
  const { vgpus } = await sample()
  assert.deepEqual(
    vgpus.map(({ UUID, vgpu_id, vgpu_uuid, vgpu_type, vm_id, memory_bytes, memory_used_bytes, util_ratio }) => [
      ...[UUID, vgpu_id, vgpu_uuid, vgpu_type, vm_id, memory_bytes, memory_used_bytes, util_ratio],
    ]),
    [
      [
        ...['GPU-00000000-double', 256, '00000000-0000-0000-0000-000000000000', 'Double H100-40C', 'vm-7'],
        ...[40n * GIB, 512n * MIB, undefined],
      ],
      [
        ...['GPU-00000000-double', 257, '00000001-0000-0000-0000-000000000000', 'Double H100-2C', 'vm-1'],
        ...[2n * GIB, 100n * MIB, undefined],
      ],
    ],
  )
  const used = await until('their use', async () => {
    const { vgpus: read } = await sample()
    return read[0]?.decoder_util_ratio !== undefined && read
  })
  assert.deepEqual(
    used.map(({ util_ratio, memory_util_ratio, encoder_util_ratio, decoder_util_ratio }) => [
      ...[util_ratio, memory_util_ratio, encoder_util_ratio, decoder_util_ratio],
    ]),
    [
      [0.4, 0.05, 0.06, 0.07],
      [undefined, undefined, undefined, undefined],
    ],
  )
})

test('a driver without virtual GPUs has none, and the reason is known', NEEDS, async (t) => {
  const { play, sample } = bringUp(t)
  play({})
  const { vgpus, absences } = await sample()
  assert.deepEqual(vgpus, [])
  assert.deepEqual(
    absences.map(({ code, reason }) => `${code}: ${reason}`),
    ["unsupported: the driver gives no virtual GPUs to virtual machines: only NVIDIA's vGPU manager does"],
  )
  assert.deepEqual((await sample()).absences, [], 'it is said once')
})

test('a driver that does not say whether it has virtual GPUs is asked again', NEEDS, async (t) => {
  const { play, sample } = bringUp(t)
  play({ 'gpu0.vgpus': 1, 'gpu0.vgpus_unknown': 1 })
  const silent = await sample()
  assert.deepEqual(silent.vgpus, [])
  assert.match(String(silent.absences[0]?.reason), /nvmlDeviceGetHostVgpuMode answers UNKNOWN/)
  play({ 'gpu0.vgpus': 1 })
  assert.equal((await sample()).vgpus.length, 1)
})

test(
  'a virtual GPU that ends during a reading is left out, and more than the first memory holds are read',
  NEEDS,
  async (t) => {
    const { play, sample } = bringUp(t)
    play({ 'gpu0.vgpus': 66, 'gpu0.vgpu1.ended': 1 })
    const { vgpus } = await sample()
    assert.deepEqual([vgpus.length, vgpus[1]?.vm_id], [65, 'vm-2'])
  },
)

test('the series of a virtual GPU end before those of the next one with its number begin', NEEDS, async (t) => {
  const { play, sample } = bringUp(t)
  play({ 'gpu0.vgpus': 1, 'gpu0.vgpu0.id': 9, 'gpu0.vgpu0.uuid': 1 })
  await sample()
  play({ 'gpu0.vgpus': 1, 'gpu0.vgpu0.id': 9, 'gpu0.vgpu0.uuid': 2 })
  const { taken } = await sample()
  const end = taken.findIndex(({ type, record }) => type === absenceType && record.code === 'gone')
  const begin = taken.findIndex(({ type }) => type === nvmlVgpuType)
  assert.ok(end >= 0 && end < begin, `${end} ${begin}`)
  assert.match(String(taken[end]?.record.series), /vgpu_uuid="00000001-/)
  assert.match(String(taken[begin]?.record.vgpu_uuid), /^00000002-/)
  play({ 'gpu0.vgpus': 0 })
  const { absences } = await sample()
  assert.deepEqual(
    absences.filter(({ code }) => code === 'gone').map(({ reason }) => reason),
    ['the virtual GPU ended'],
  )
})

test(
  'a library that has no use of virtual GPUs says so; a list that is refused ends their series',
  NEEDS,
  async (t) => {
    const { play, sample } = bringUp(t)
    play({ 'gpu0.vgpus': 1, 'gpu0.vgpu_use': 0, 'gpu0.vgpu0.used_mib': 2 ** 40 })
    const { vgpus, absences } = await sample()
    assert.deepEqual([vgpus.length, vgpus[0]?.memory_used_bytes], [1, undefined])
    const reasons = Object.fromEntries(absences.map(({ field, reason }) => [String(field), String(reason)]))
    assert.match(reasons.util_ratio ?? '', /nvmlDeviceGetVgpuUtilization answers NOT_SUPPORTED/)
    assert.match(reasons.memory_used_bytes ?? '', /impossible/)
    play({ 'gpu0.vgpus': 1, 'gpu0.vgpus_refused': 1 })
    const refused = await sample()
    assert.deepEqual(refused.vgpus, [])
    assert.match(String(refused.absences[0]?.reason), /nvmlDeviceGetActiveVgpus answers NOT_SUPPORTED/)
  },
)
