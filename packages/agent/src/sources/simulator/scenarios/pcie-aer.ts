import type { AerRate } from '../effects.ts'
import { linkErrors, onDevice, type Scenario } from './scenario.ts'

/** Above this rate some errors cannot be corrected. Unit: errors per second. */
const NONFATAL_FROM = 500
const NONFATAL: AerRate = { severity: 'nonfatal', error: 'CmpltTO', perS: 0.05 }

/** 4.8: bursts of corrected PCIe errors. */
export const pcieAer: Scenario = {
  name: 'pcie-aer',
  summary: 'The PCIe link of one NIC or GPU corrects errors in bursts; packets are sent again, nothing is lost',
  target: 'nic',
  alsoTarget: 'gpu',
  usualIndex: 3,
  severity: { unit: 'errors a second', min: 1, max: 1000, default: 50 },
  durationS: 180,
  effects: (strike) => {
    const { device, onsetS, endS, severity } = strike
    const aer = severity < NONFATAL_FROM ? linkErrors(severity) : [...linkErrors(severity), NONFATAL]
    const effect = device.kind === 'gpu' ? { aer } : { aer, stalledShare: 0.1 }
    return { spans: [onDevice(strike, onsetS, endS, effect)] }
  },
}
