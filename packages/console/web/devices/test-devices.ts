import type { DeviceInfo } from '../api/devices.ts'
import type { MetricClaim, MetricClaims } from '../api/metric-claims.ts'

const claim = (kind: string, ...key: string[]): MetricClaim => ({ kind, key, labels: key })
const FAMILIES: readonly (readonly [begins: string, claim: MetricClaim])[] = [
  ['DCGM_', { ...claim('gpu', 'gpu'), labels: ['gpu', 'UUID'] }],
  ['rdma_', claim('nic', 'rdma_device', 'port')],
  ['doca_pci_rx_bytes', claim('nic', 'device')],
  ['doca_', claim('nic', 'rdma_device')],
  ['ethtool_', claim('netdev', 'device')],
  ['netdev_', claim('netdev', 'device')],
  ['pci_', claim('pci', 'pci_address')],
]

/** What the types of the agent say of the metrics of tests. */
const claims: MetricClaims = { get: (metric) => FAMILIES.find(([begins]) => metric.startsWith(begins))?.[1] }

const NOTHING_MORE = {
  ...{
    host: 'node',
    type: 'made',
    source: 'made',
    share: null,
    driver: '',
    numaNode: null,
    socket: null,
    switch: null,
  },
  ...{ relations: [], netdevs: [], path: [], pairs: [], claims, key: [] },
} as const

/** A GPU of a test, in the rail of its index. */
export function testGpu(index: number, more: Partial<DeviceInfo> = {}): DeviceInfo {
  return {
    ...NOTHING_MORE,
    id: `gpu-${index}`,
    kind: 'gpu',
    name: `GPU ${index}`,
    rail: index,
    state: 'present',
    simulated: false,
    labels: { gpu: String(index), UUID: `GPU-${index}` },
    series: { pci: { pci_address: `0000:1${index}:00.0` } },
    model: 'H100',
    address: `0000:1${index}:00.0`,
    limits: { power_watts: 700, pcie_bytes_per_s: 63e9 },
    ...more,
  }
}

/** A NIC of a test, in the rail of its index. */
export function testNic(index: number, more: Partial<DeviceInfo> = {}): DeviceInfo {
  return {
    ...NOTHING_MORE,
    id: `nic-mlx5_${index}-1`,
    kind: 'nic',
    name: `mlx5_${index}`,
    rail: index,
    state: 'present',
    simulated: false,
    key: ['rdma_device', 'port'],
    labels: { rdma_device: `mlx5_${index}`, port: '1' },
    series: {
      netdev: { device: `eth1${index}` },
      pci: { pci_address: `0000:2${index}:00.0` },
    },
    model: 'MT4129',
    address: `0000:2${index}:00.0`,
    limits: {},
    ...more,
  }
}
