import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../../test/debian.ts'
import { ApiServerDouble } from '../../../../../test/doubles/api-server/api-server-double.ts'
import { KubeletDouble, podWith } from '../../../../../test/doubles/kubelet/kubelet-double.ts'
import { podNicDeviceType } from '../pods/type.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { kubernetes } from './kubernetes.ts'

const NEEDS = needs('grpcio', 'protoc')
const [ADAPTER, VF, PASSED, LONE, GPU] = [0, 2, 3, 4, 5].map((place) => `0000:3b:00.${place}`) as [
  ...[string, string, string, string, string],
]
const PCI = 'sys/bus/pci/devices'

/** A node with an adapter, two of its virtual functions, another adapter and a GPU; and its kubelet. */
async function bringUp(t: TestContext, options: object = {}) {
  const node = new TestNode(t)
  for (const address of [ADAPTER, VF, PASSED, LONE]) node.write(`${PCI}/${address}/class`, '0x020000\n')
  node.write(`${PCI}/${GPU}/class`, '0x030200\n')
  for (const [place, address] of [VF, PASSED].entries()) {
    node.link(`${PCI}/${address}/physfn`, `../${ADAPTER}`)
    node.link(`${PCI}/${ADAPTER}/virtfn${place}`, `../${address}`)
  }
  for (const [address, device] of Object.entries({ [ADAPTER]: 'mlx5_0', [VF]: 'mlx5_2', [LONE]: 'mlx5_4' }))
    node.write(`${PCI}/${address}/infiniband/${device}/node_type`, '1: CA\n')
  node.link(`${PCI}/${PASSED}/driver`, '../../../bus/pci/drivers/vfio-pci')
  node.link('sys/bus/auxiliary/devices/mlx5_core.sf.4', `../../../devices/pci0000:3a/${ADAPTER}/mlx5_core.sf.4`)
  node.write(`sys/devices/pci0000:3a/${ADAPTER}/mlx5_core.sf.4/infiniband/mlx5_9/node_type`, '1: CA\n')
  const kubelet = await new KubeletDouble(t).start()
  const tested = new TestedSource(kubernetes, node.paths, { kubelet_socket: kubelet.socket, ...options })
  t.after(() => tested.source.close())
  const held = async () => {
    await tested.source.sample()
    return tested.take().flatMap(({ type, record }) => (type === podNicDeviceType ? [record] : []))
  }
  return { node, kubelet, tested, held }
}

test(
  'each form of a NIC id means its function, and says whether its counters are those of the pod',
  NEEDS,
  async (t) => {
    const { kubelet, held } = await bringUp(t)
    const cases: [resource: string, id: string, found: unknown[]][] = [
      ['nvidia.com/hostdev', VF, [VF, 'mlx5_2', ADAPTER, 1, '']],
      ['nvidia.com/hostdev', LONE, [LONE, 'mlx5_4', '', 1, '']],
      ['intel.com/sriov', ADAPTER, [ADAPTER, 'mlx5_0', '', 0, 'its counters include those of its 2 virtual functions']],
      [
        'openshift.io/vfio',
        PASSED,
        [PASSED, '', ADAPTER, 1, `vfio-pci passes it through to a virtual machine: only ${ADAPTER} counts its traffic`],
      ],
      ['nvidia.com/sf', 'mlx5_core.sf.4', [ADAPTER, 'mlx5_9', ADAPTER, 1, '']],
      [
        'rdma/hca_shared',
        '17',
        ['', '', '', 0, 'rdma/hca_shared gives the same RDMA devices to several pods; 17 is only a place among them'],
      ],
    ]
    for (const [resource, id, found] of cases) {
      kubelet.pods(podWith('p', [id], resource))
      assert.deepEqual(
        (await held()).map(({ pod, pci_address, rdma_device, physical_function, own, no_counters }) => [
          pod,
          ...[pci_address, rdma_device, physical_function, own, no_counters],
        ]),
        [['p', ...found]],
        id,
      )
    }
    // A GPU that is passed through to a virtual machine has a PCI address too.
    kubelet.pods(podWith('p', [GPU], 'nvidia.com/GA102GL'), podWith('q', ['kvm7'], 'devices.kubevirt.io/kvm'))
    assert.deepEqual(await held(), [])
  },
)

test('a NIC that two pods hold has counters of neither, and its row ends with the pod', NEEDS, async (t) => {
  const { kubelet, tested, held } = await bringUp(t)
  kubelet.pods(podWith('a', [VF], 'nvidia.com/vf'), podWith('b', [VF], 'nvidia.com/vf'))
  assert.deepEqual(
    (await held()).map(({ pod, own, no_counters, doubt }) => [pod, own, no_counters, doubt]),
    [
      ['a', 0, 'ml/b holds the same device', `the kubelet lists ${VF} for ml/b too`],
      ['b', 0, 'ml/a holds the same device', `the kubelet lists ${VF} for ml/a too`],
    ],
  )
  kubelet.pods(podWith('b', [VF], 'nvidia.com/vf'))
  await tested.source.sample()
  const gone = tested.take().flatMap(({ record }) => (record.code === 'gone' ? [String(record.series)] : []))
  assert.deepEqual(gone.length, 1)
  assert.match(String(gone), /pod="a".*resource="nvidia\.com\/vf",device_id="0000:3b:00\.2"/)
})

test('a claim of a NIC means the PCI address that its driver publishes', NEEDS, async (t) => {
  const api = await ApiServerDouble.start(t)
  const attributes = { 'resource.kubernetes.io/pciBusID': { string: VF } }
  const spec = { driver: 'dra.net', nodeName: 'node-a', pool: { name: 'node-a' } }
  api.slices = [{ spec: { ...spec, devices: [{ name: 'net-vf0', attributes }] } }]
  const options = { api_server: api.address, api_token_file: '', api_ca_file: '', node_name: 'node-a' }
  const { kubelet, held } = await bringUp(t, options)
  const claimed = (deviceName: string) => ({ driverName: 'dra.net', poolName: 'node-a', deviceName })
  const dynamicResources = [{ claimName: 'c', claimResources: ['net-vf0', 'net-vf7'].map(claimed) }]
  kubelet.pods({ name: 'p', namespace: 'ml', containers: [{ name: 'main', dynamicResources }] })
  assert.deepEqual(
    (await held()).map(({ device_id, rdma_device, own, via, doubt }) => [device_id, rdma_device, own, via, doubt]),
    [
      ['node-a/net-vf0', 'mlx5_2', 1, 'kubelet, resource claim', ''],
      ['node-a/net-vf7', '', 0, 'kubelet, resource claim', 'the API server names no PCI address of node-a/net-vf7'],
    ],
  )
})
