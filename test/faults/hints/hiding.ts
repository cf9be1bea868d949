// Which of two faults hides the other. It follows from what the README of the scenarios says of each and from the
// rules' own `explainedBy`, not from what a run found.

import { RULES } from '../../../packages/agent/src/hints/rules/index.ts'
import { NODE_CLASSES } from '../../../packages/agent/src/sources/simulator/classes/classes.ts'
import { EXPECTED, type Fault } from './expected.ts'

/** Why one fault hides another. */
interface Hiding {
  /** One sentence for docs/hints.md. */
  readonly why: string
  /** Whether the first hides the second, where both are on one node. */
  readonly hides: (hider: Fault, hidden: Fault) => boolean
}

/** Everyone stands still, for a while or for good. */
const STOPS: readonly string[] = ['stuck-collective', 'ecc-burst', 'gpu-lost', 'checkpoint', 'link-flap']
/** Seen by the work of the job: by what it sends, computes or copies. */
const SEEN_BY_WORK: readonly string[] = [
  ...['retransmission-storm', 'pfc-storm', 'pfc-priority', 'incast', 'hash-collision', 'thermal-throttle'],
  ...['straggler', 'data-stall', 'checkpoint'],
]
/** Bursts of the struck rail, or of all of them, are slower. */
const SLOWS_RAILS: readonly string[] = [
  ...['retransmission-storm', 'pfc-storm', 'pfc-priority', 'hash-collision', 'link-downtrain', 'pcie-downtrain'],
  'noisy-neighbour',
]
/** Steps take longer, or clocks are lower: GPUs draw less power than they did. */
const COOLS: readonly string[] = [...SLOWS_RAILS, ...STOPS, 'power-cap', 'power-brake', 'straggler', 'data-stall']

const isSame = (one: Fault, other: Fault) => one.device === other.device
/** Ports of one card share its link. */
const isOnCard = (one: Fault, other: Fault) =>
  isSame(one, other) || (one.scenario === 'pcie-downtrain' && isOnNic(one) && isOnNic(other) && !isHgx(one))
const isHgx = ({ nodeClass }: Fault) => nodeClass.startsWith('hgx')
const isOnNic = ({ device }: Fault) => device.includes('nic')
const isOnGpu = ({ device }: Fault) => device.includes('gpu')

/** Rails of the node that a fault is on. */
function railsOf(fault: Fault): number {
  return nicsOf(fault).filter(({ role }) => role === 'training').length
}

/** Ports of the node that a fault is on. */
function portsOf(fault: Fault): number {
  return nicsOf(fault).length
}

function nicsOf({ nodeClass }: Fault) {
  return NODE_CLASSES.find(({ name }) => name === nodeClass)?.nics ?? []
}

/** Rails that a fault slows down. */
function slowedRails(fault: Fault): number {
  if (!SLOWS_RAILS.includes(fault.scenario) || isOnGpu(fault)) return 0
  if (fault.scenario === 'pfc-storm') return railsOf(fault)
  return fault.scenario === 'hash-collision' || fault.scenario === 'pcie-downtrain' ? 2 : 1
}

/** Whether a rule that tells one fault explains every rule that tells the other. */
function isExplained(hider: Fault, hidden: Fault): boolean {
  const causes = EXPECTED[hider.scenario]?.tells ?? []
  const effects = EXPECTED[hidden.scenario]?.tells ?? []
  return effects.every((effect) => {
    const { explainedBy = {} } = RULES.find(({ name }) => name === effect) ?? {}
    return causes.some(
      (cause) => explainedBy[cause] === 'node' || (explainedBy[cause] === 'device' && isOnCard(hider, hidden)),
    )
  })
}

/** Every reason there is. */
export const HIDINGS: readonly Hiding[] = [
  {
    why: 'A rule explains the other rule, as the lists below show: only the cause is reported.',
    hides: isExplained,
  },
  {
    why: 'The job stands still, and the other fault only shows in its work.',
    hides: (hider, hidden) =>
      STOPS.includes(hider.scenario) && (SEEN_BY_WORK.includes(hidden.scenario) || isOfUsedGpu(hidden)),
  },
  {
    why: 'The GPU is lost, or the link of the port is down, and the other fault is on the same device.',
    hides: (hider, hidden) => isSame(hider, hidden) && ['gpu-lost', 'link-flap'].includes(hider.scenario),
  },
  {
    why: 'The only GPU of the node is lost, and the other fault shows on GPUs.',
    hides: (hider, hidden) => hider.scenario === 'gpu-lost' && hider.nodeClass === 'small' && !isOnNic(hidden),
  },
  {
    why: 'MIG splits the GPU: use and activity of its parts are not compared with those of whole GPUs.',
    hides: (hider, hidden) =>
      hider.scenario === 'mig' &&
      isSame(hider, hidden) &&
      ['straggler', 'thermal-throttle', 'pcie-downtrain'].includes(hidden.scenario),
  },
  {
    why: 'MIG splits every GPU of the node: the work of the whole job is unknown.',
    hides: (hider, hidden) =>
      hider.scenario === 'mig' &&
      hider.nodeClass === 'dpu-host' &&
      ['checkpoint', 'data-stall'].includes(hidden.scenario),
  },
  {
    why: 'Pauses hold up every rail: losses and foreign traffic on a paused port are look-alikes.',
    hides: (hider, hidden) =>
      hider.scenario === 'pfc-storm' && ['retransmission-storm', 'noisy-neighbour'].includes(hidden.scenario),
  },
  {
    why: 'A port that pauses its peers is not congested: its own host does not drain.',
    hides: (hider, hidden) =>
      ['pfc-storm', 'pcie-downtrain'].includes(hider.scenario) &&
      isOnNic(hider) &&
      (hidden.scenario === 'hash-collision' || (hidden.scenario === 'incast' && isOnCard(hider, hidden))),
  },
  {
    why: 'Both ports of a node with two ports have more bit errors: the cause is the temperature.',
    hides: (hider, hidden) =>
      [hider, hidden].every(({ scenario }) => scenario === 'link-ber') &&
      !isSame(hider, hidden) &&
      portsOf(hider) === 2,
  },
  {
    why: 'Half of the rails or more are slow: a wait for data is only reported if bursts are as fast as before.',
    hides: (hider, hidden) => hidden.scenario === 'data-stall' && slowedRails(hider) >= railsOf(hider) / 2,
  },
  {
    why: 'GPUs draw less power when steps take longer, so they stay cooler.',
    hides: (hider, hidden) => hidden.scenario === 'thermal-throttle' && COOLS.includes(hider.scenario),
  },
  {
    why: 'Two GPUs are slow: a straggler is exactly one GPU.',
    hides: (hider, hidden) =>
      hidden.scenario === 'straggler' && ['straggler', 'thermal-throttle'].includes(hider.scenario),
  },
]

/** A GPU may have slowed down its PCIe link while it moves nothing. */
function isOfUsedGpu(fault: Fault): boolean {
  return fault.scenario === 'pcie-downtrain' && isOnGpu(fault)
}

/** Why the first of two faults hides the second; undefined if it does not. */
export function whyHidden(hider: Fault, hidden: Fault): string | undefined {
  return HIDINGS.find(({ hides }) => hides(hider, hidden))?.why
}
