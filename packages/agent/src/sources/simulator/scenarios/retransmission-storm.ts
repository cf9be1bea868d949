import { onDevice, type Scenario } from './scenario.ts'

/** 4.2: silent loss on the path of one rail. */
export const retransmissionStorm: Scenario = {
  name: 'retransmission-storm',
  summary: 'One rail loses packets silently, and sends packets in flight again',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of packets lost', min: 0.00001, max: 0.01, default: 0.0002 },
  durationS: 120,
  effects: (strike) => ({ spans: [onDevice(strike, strike.onsetS, strike.endS, { lossShare: strike.severity })] }),
}
