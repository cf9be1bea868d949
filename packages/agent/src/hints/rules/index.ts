import { beforeStartRule } from './before-start.ts'
import { checkpointRule } from './checkpoint.ts'
import { congestionRule } from './congestion.ts'
import { dataStallRule } from './data-stall.ts'
import { driverStuckRule } from './driver-stuck.ts'
import { eccCorrectedRule, eccPendingRule, eccUncorrectedRule } from './ecc.ts'
import { farNicRule } from './far-nic.ts'
import { gpuHotRule } from './gpu-hot.ts'
import { gpuErrorRule, gpuLostRule } from './gpu-lost.ts'
import { cpuThrottleRule, hostMemoryRule } from './host.ts'
import { linkBerRule } from './link-ber.ts'
import { linkDownRule } from './link-down.ts'
import { linkFlapRule } from './link-flap.ts'
import { linkSlowRule } from './link-slow.ts'
import { noisyNeighbourRule } from './noisy-neighbour.ts'
import { gpuAerRule, nicAerRule } from './pcie-aer.ts'
import { gpuDowntrainRule, nicDowntrainRule } from './pcie-downtrain.ts'
import { pfcSourceRule, pfcVictimRule } from './pfc.ts'
import { pfcPriorityRule } from './pfc-priority.ts'
import { powerBrakeRule, powerCapRule } from './power.ts'
import { retransmissionStormRule } from './retransmission-storm.ts'
import type { HintRule } from './rule.ts'
import { sharedDeviceRule } from './shared-device.ts'
import { standingProfileRule } from './standing-profile.ts'
import { stragglerRule } from './straggler.ts'
import { stuckCollectiveRule } from './stuck-collective.ts'
import { thermalThrottleRule } from './thermal-throttle.ts'

/**
 * All rules. Rules that explain others come before them. To add a rule, add a file beside this file and an entry here.
 */
export const RULES: readonly HintRule[] = [
  gpuLostRule,
  gpuErrorRule,
  beforeStartRule,
  driverStuckRule,
  linkFlapRule,
  linkDownRule,
  linkSlowRule,
  checkpointRule,
  nicDowntrainRule,
  gpuDowntrainRule,
  linkBerRule,
  pfcSourceRule,
  pfcVictimRule,
  pfcPriorityRule,
  retransmissionStormRule,
  congestionRule,
  noisyNeighbourRule,
  powerBrakeRule,
  powerCapRule,
  thermalThrottleRule,
  gpuHotRule,
  eccUncorrectedRule,
  eccPendingRule,
  eccCorrectedRule,
  hostMemoryRule,
  cpuThrottleRule,
  nicAerRule,
  gpuAerRule,
  stuckCollectiveRule,
  stragglerRule,
  dataStallRule,
  sharedDeviceRule,
  farNicRule,
  standingProfileRule,
]
