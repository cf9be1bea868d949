import { linkErrors, ONE_DEGREE, onDevice, type Scenario } from './scenario.ts'

/** Duration of PCIe errors before the loss. */
const LEAD_S = 60
const LEAD_ERRORS_PER_S = 100

/** 4.15: a GPU falls off the bus. */
export const gpuLost: Scenario = {
  name: 'gpu-lost',
  summary: 'One GPU falls off the PCIe bus: its series end, and the others wait for it',
  target: 'gpu',
  usualIndex: 6,
  severity: ONE_DEGREE,
  durationS: 180,
  effects: (strike) => {
    const { sinceS, onsetS, endS, device } = strike
    const gpu = device.index
    return {
      spans: [
        onDevice(strike, Math.max(sinceS, onsetS - LEAD_S), onsetS, { aer: linkErrors(LEAD_ERRORS_PER_S) }),
        onDevice(strike, onsetS, endS, { state: 'lost' }),
      ],
      events: [
        { atS: onsetS, gpu, kind: 'xid', xid: 79 },
        { atS: onsetS + 0.01, gpu, kind: 'xid', xid: 154 },
      ],
    }
  },
}
