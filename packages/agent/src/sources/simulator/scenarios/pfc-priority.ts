import { onDevice, type Scenario } from './scenario.ts'

/** RDMA without its traffic class: the setting of the adapter is lost, as after a reload of its driver. */
export const pfcPriority: Scenario = {
  name: 'pfc-priority',
  summary:
    'One rail sends RDMA on priority 0 while flow control is on for 3: full switches drop it, and it is sent again',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of packets lost', min: 0.000001, max: 0.001, default: 0.00001 },
  durationS: 120,
  effects: (strike) => {
    const { onsetS, endS, severity } = strike
    return { spans: [onDevice(strike, onsetS, endS, { isUnguarded: true, lossShare: severity })] }
  },
}
