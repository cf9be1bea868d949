import { checkpoint } from './checkpoint.ts'
import { checkpointAsynchronous } from './checkpoint-asynchronous.ts'
import { dataStall } from './data-stall.ts'
import { eccBurst } from './ecc-burst.ts'
import { gpuLost } from './gpu-lost.ts'
import { hashCollision } from './hash-collision.ts'
import { healthy } from './healthy.ts'
import { incast } from './incast.ts'
import { linkBer } from './link-ber.ts'
import { linkDowntrain } from './link-downtrain.ts'
import { linkFlap } from './link-flap.ts'
import { mig } from './mig.ts'
import { noisyNeighbour } from './noisy-neighbour.ts'
import { pcieAer } from './pcie-aer.ts'
import { pcieDowntrain } from './pcie-downtrain.ts'
import { pcieStall } from './pcie-stall.ts'
import { pfcPriority } from './pfc-priority.ts'
import { pfcStorm } from './pfc-storm.ts'
import { powerBrake } from './power-brake.ts'
import { powerCap } from './power-cap.ts'
import { randomOf } from './random.ts'
import { retransmissionStorm } from './retransmission-storm.ts'
import type { Scenario } from './scenario.ts'
import { straggler } from './straggler.ts'
import { stuckCollective } from './stuck-collective.ts'
import { thermalThrottle } from './thermal-throttle.ts'
import { timeSlicing } from './time-slicing.ts'

const SINGLE: readonly Scenario[] = [
  healthy,
  retransmissionStorm,
  pfcStorm,
  pfcPriority,
  incast,
  hashCollision,
  linkFlap,
  linkDowntrain,
  linkBer,
  pcieDowntrain,
  pcieAer,
  pcieStall,
  eccBurst,
  thermalThrottle,
  powerCap,
  powerBrake,
  straggler,
  stuckCollective,
  dataStall,
  gpuLost,
  noisyNeighbour,
  checkpoint,
  checkpointAsynchronous,
  mig,
  timeSlicing,
]

/** All scenarios of a simulated node. To add one, add a file beside this one and a row above. */
export const SCENARIOS: readonly Scenario[] = [...SINGLE, randomOf(SINGLE)]
