import { beforeStart } from './before-start.ts'
import { checkpoint } from './checkpoint.ts'
import { congestion } from './congestion.ts'
import { dataStall } from './data-stall.ts'
import { driverStuck } from './driver-stuck.ts'
import { eccCorrected, eccPending, eccUncorrected } from './ecc.ts'
import { gpuHot } from './gpu-hot.ts'
import { gpuError, gpuLost } from './gpu-lost.ts'
import { cpuThrottle, hostMemory } from './host.ts'
import { linkBer } from './link-ber.ts'
import { linkDown } from './link-down.ts'
import { linkFlap } from './link-flap.ts'
import { linkSlow } from './link-slow.ts'
import { noisyNeighbour } from './noisy-neighbour.ts'
import { gpuAer, nicAer } from './pcie-aer.ts'
import { gpuDowntrain, nicDowntrain } from './pcie-downtrain.ts'
import { pfcSource, pfcVictim } from './pfc.ts'
import { powerBrake, powerCap } from './power.ts'
import { retransmissionStorm } from './retransmission-storm.ts'
import type { Rule } from './rule.ts'
import { sharedDevice } from './shared-device.ts'
import { standingProfile } from './standing-profile.ts'
import { straggler } from './straggler.ts'
import { stuckCollective } from './stuck-collective.ts'
import { thermalThrottle } from './thermal-throttle.ts'

/**
 * All rules. Rules that explain others come before them. To add a rule, add a file beside this file and an entry here.
 */
export const RULES: readonly Rule[] = [
  gpuLost,
  gpuError,
  beforeStart,
  driverStuck,
  linkFlap,
  linkDown,
  linkSlow,
  checkpoint,
  nicDowntrain,
  gpuDowntrain,
  linkBer,
  pfcSource,
  pfcVictim,
  retransmissionStorm,
  congestion,
  noisyNeighbour,
  powerBrake,
  powerCap,
  thermalThrottle,
  gpuHot,
  eccUncorrected,
  eccPending,
  eccCorrected,
  hostMemory,
  cpuThrottle,
  nicAer,
  gpuAer,
  stuckCollective,
  straggler,
  dataStall,
  sharedDevice,
  standingProfile,
]
