import { onDevice, type Scenario } from './scenario.ts'

/** Traffic of the other senders, as a share of line rate. */
const OTHERS_SHARE = 0.4

/** 4.4: several senders to one port; congestion marks slow each of them down. */
export const incast: Scenario = {
  name: 'incast',
  summary: 'Several senders share one port: it receives at line rate, and much of it is marked for congestion',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of packets marked', min: 0.02, max: 0.3, default: 0.12 },
  durationS: 120,
  effects: (strike) => {
    const { node, device, onsetS, endS, severity } = strike
    const line = node.nics[device.index]?.model.speedBytesPerS ?? 0
    const effect = { markedShare: severity, throttledShare: severity / 4, rxOtherBytesPerS: OTHERS_SHARE * line }
    return { spans: [onDevice(strike, onsetS, endS, effect)] }
  },
}
