// What a hint must say of each scenario: which rules, on which device, and how soon after the onset its effect can be
// seen in samples.

import { NODE_CLASSES } from '../../../packages/agent/src/sources/simulator/classes/classes.ts'
import { PACKET_BYTES } from '../../../packages/agent/src/sources/simulator/model/pace.ts'
import type { Scenario } from '../../../packages/agent/src/sources/simulator/scenarios/scenario.ts'

/** One fault that was set. */
export interface Fault {
  readonly scenario: string
  readonly nodeClass: string
  readonly workload: 'training' | 'inference'
  /** Id of the device, `sim-node` if it is the node. */
  readonly device: string
  readonly severity: number
}

/** The expected hints of one fault. */
export interface Expected {
  /** Rules that tell it: one of them must. */
  readonly tells: readonly string[]
  /** Rules of its effects, which may open beside. */
  readonly also?: readonly string[]
  /** `struck`: on the device that is struck; `node`: on the node as a whole. Default: `struck`. */
  readonly on?: 'struck' | 'node'
  /** How long after the onset its effect is in the samples. Unit: seconds. Default: 0. */
  readonly visibleS?: (fault: Fault) => number
  /** Whether it is below a limit that docs/hints.md tells: it need not be told. Default: it never is. */
  readonly isBelow?: (fault: Fault) => boolean
}

/** Share of marked packets below which congestion is no hint, with room for the noise of bursts. */
const MARKED_LEAST = 0.06
/** Share of its line that somebody else must take. */
const FOREIGN_LEAST = 0.21
/** Warming that shows on a PCIe card, or on a GPU that serves. Unit: degrees Celsius. */
const WARMED_LEAST = 32

/** PCIe errors a second that make 310 in a minute, with room for their bursts. */
const ERRORS_LEAST = 7
/** Packets that must be lost, with room for the noise of bursts. Unit: packets a second. */
const LOST_LEAST = 130
/** What the job sends through a rail, as a share of its line. */
const SENT_SHARE = { training: 0.31, inference: 0.011 }

const isTraining = ({ workload }: Fault) => workload === 'training'
const isHgx = ({ nodeClass }: Fault) => nodeClass.startsWith('hgx')
/** A GPU waits for others only if there are some that do the same. */
const hasPeers = (fault: Fault) => isHgx(fault)

function lineOf({ nodeClass, device }: Fault): number {
  const node = NODE_CLASSES.find(({ name }) => name === nodeClass)
  return node?.nics.find((nic) => device.includes(nic.device))?.model.speedBytesPerS ?? 50e9
}

/** Packets that the job sends through a rail. Unit: packets a second. */
function packetsOf(fault: Fault): number {
  return (SENT_SHARE[fault.workload] * lineOf(fault)) / PACKET_BYTES
}

/** By name of the scenario. Those that are no fault, and are not told, are not here. */
export const EXPECTED: Readonly<Record<string, Expected>> = {
  'retransmission-storm': {
    tells: ['retransmission_storm'],
    isBelow: (fault) => fault.severity * packetsOf(fault) < LOST_LEAST,
  },
  'pfc-storm': { tells: ['pfc_source'], also: ['pfc_victim'] },
  // A job that serves sends hardly more than the least share of its line.
  'pfc-priority': {
    tells: ['pfc_priority'],
    also: ['retransmission_storm'],
    visibleS: () => 10,
    isBelow: (fault) => !isTraining(fault),
  },
  incast: { tells: ['congestion'], isBelow: ({ severity }) => severity < MARKED_LEAST },
  // Where both NICs of a node are struck, none is left to compare with.
  'hash-collision': {
    tells: ['congestion'],
    isBelow: (fault) => fault.severity < MARKED_LEAST || !isHgx(fault),
  },
  'link-downtrain': { tells: ['link_flap', 'link_slow'], visibleS: () => 1 },
  'link-flap': { tells: ['link_flap'] },
  'link-ber': { tells: ['link_ber'], visibleS: () => 3 },
  // A GPU that moves little may have slowed its link down to save power.
  'pcie-downtrain': {
    tells: ['pcie_downtrain'],
    also: ['pcie_aer'],
    isBelow: (fault) => fault.device.includes('gpu') && !isTraining(fault),
  },
  'pcie-aer': { tells: ['pcie_aer'], visibleS: () => 20, isBelow: ({ severity }) => severity < ERRORS_LEAST },
  'ecc-burst': { tells: ['ecc_uncorrected'], also: ['ecc_corrected'], visibleS: () => 60 },
  'thermal-throttle': {
    tells: ['thermal_throttle', 'gpu_hot'],
    visibleS: (fault) => (isHgx(fault) && isTraining(fault) ? 28 : 60),
    isBelow: (fault) => !(isHgx(fault) && isTraining(fault)) && fault.severity < WARMED_LEAST,
  },
  'power-cap': { tells: ['power_cap'], on: 'node' },
  'power-brake': { tells: ['power_brake'], on: 'node' },
  straggler: {
    tells: ['straggler'],
    isBelow: (fault) => fault.severity < 1.1 || !isTraining(fault) || !hasPeers(fault),
  },
  'stuck-collective': { tells: ['stuck_collective'], on: 'node', isBelow: (fault) => !hasPeers(fault) },
  'data-stall': { tells: ['data_stall'], on: 'node', isBelow: (fault) => !isTraining(fault) },
  'gpu-lost': { tells: ['gpu_lost'], also: ['pcie_aer'] },
  'noisy-neighbour': {
    tells: ['noisy_neighbour'],
    isBelow: (fault) => Math.min(fault.severity, 0.6 * lineOf(fault)) < FOREIGN_LEAST * lineOf(fault),
  },
  checkpoint: { tells: ['checkpoint'], on: 'node' },
  mig: { tells: ['shared_device'] },
}

/** Names of the scenarios that are drawn. */
export function drawn(scenarios: readonly Scenario[]): readonly Scenario[] {
  return scenarios.filter(({ name }) => EXPECTED[name] !== undefined)
}
