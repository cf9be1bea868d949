import { onDevice, type Scenario } from './scenario.ts'

/** PCIe writes that wait for credits of the host, as with a saturated memory or IOMMU; the link has its full speed. */
export const pcieStall: Scenario = {
  name: 'pcie-stall',
  summary: 'Writes of one NIC wait for the host while its PCIe link runs at full speed; its buffer still suffices',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of time in which writes wait', min: 0.1, max: 0.6, default: 0.45 },
  durationS: 120,
  effects: (strike) => ({ spans: [onDevice(strike, strike.onsetS, strike.endS, { stalledShare: strike.severity })] }),
}
