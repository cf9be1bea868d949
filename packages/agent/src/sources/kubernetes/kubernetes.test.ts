import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { ReadRecord } from '@sonde/sdk'
import { needs } from '../../../../../test/debian.ts'
import { KubeletDouble, podWith } from '../../../../../test/doubles/kubelet/kubelet-double.ts'
import { testSource } from '../conformance.ts'
import { podDeviceType } from '../pods/type.ts'
import { type ReportedRecord, TestedSource, TestNode } from '../test-node.ts'
import { kubernetes } from './kubernetes.ts'

const NEEDS = needs('grpcio', 'protoc')

const kubelet = NEEDS.skip === false ? await new KubeletDouble({ after }).start() : undefined

kubelet?.pods(podWith('trainer-0', ['GPU-aa']))
testSource(kubernetes, { ...NEEDS, options: { kubelet_socket: kubelet?.socket ?? '/none' } })

/** The source over a kubelet that this file shares. */
function bringUp(t: TestContext, options: object = {}): TestedSource {
  const tested = new TestedSource(kubernetes, new TestNode(t).paths, { kubelet_socket: kubelet?.socket, ...options })
  t.after(() => tested.source.close())
  return tested
}

const devicesOf = (taken: readonly ReportedRecord[]): ReadRecord[] =>
  taken.filter(({ type }) => type === podDeviceType).map(({ record }) => record)

const heldIn = (taken: readonly ReportedRecord[]) =>
  devicesOf(taken).map(({ pod, UUID, GPU_I_ID }) => `${pod} ${UUID} ${GPU_I_ID}`.trimEnd())

/** Two GPUs, of which the second is split into instances. */
const NAMES = {
  gpus: [
    { UUID: 'GPU-aa', device: 'nvidia0', Hostname: '', instances: {} },
    { UUID: 'GPU-bb', device: 'nvidia1', Hostname: '', instances: { 'MIG-11': '7', 'MIG-22': '9' } },
  ],
}

test('every form of a device id means its GPU or instance', NEEDS, async (t) => {
  const tested = bringUp(t)
  await tested.command(NAMES)
  const cases: [ids: string[], resource: string, held: string[]][] = [
    [['GPU-aa'], 'nvidia.com/gpu', ['GPU-aa']],
    [['GPU-aa::3'], 'nvidia.com/gpu', ['GPU-aa']],
    [['GPU-aa::0', 'GPU-aa::1'], 'nvidia.com/gpu.shared', ['GPU-aa']],
    [['MIG-11'], 'nvidia.com/mig-1g.10gb', ['GPU-bb 7']],
    [['MIG-22::4'], 'nvidia.com/mig-1g.10gb.shared', ['GPU-bb 9']],
    [['MIG-GPU-bb/7/0'], 'nvidia.com/mig-3g.20gb', ['GPU-bb 7']],
    [['nvidia1'], 'nvidia.com/gpu', ['GPU-bb']],
    [['nvidia1/gi9'], 'nvidia.com/gpu', ['GPU-bb 9']],
    [['nvidia1/gi9/vgpu2'], 'nvidia.com/gpu', ['GPU-bb 9']],
    [['nvidia0/vgpu0'], 'nvidia.com/gpu', ['GPU-aa']],
    [['GPU-aa', 'GPU-bb'], 'nvidia.com/gpu', ['GPU-aa', 'GPU-bb']],
    [['7'], 'nvidia.com/cpu', []],
  ]
  for (const [ids, resource, held] of cases) {
    kubelet?.pods(podWith('p', ids, resource))
    await tested.source.sample()
    assert.deepEqual(
      heldIn(tested.take()),
      held.map((device) => `p ${device}`),
      ids.join(),
    )
  }
})
