import { HintedNode } from '../../../packages/agent/src/hints/test-simulated-node.ts'
import { CLASS_NAMES } from '../../../packages/agent/src/sources/simulator/names.ts'
import { deviceId, targetsOf } from '../../../packages/agent/src/sources/simulator/scenarios/devices.ts'
import type { Scenario } from '../../../packages/agent/src/sources/simulator/scenarios/scenario.ts'
import { SCENARIOS } from '../../../packages/agent/src/sources/simulator/scenarios/scenarios.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { drawn, EXPECTED, type Expected, type Fault } from './expected.ts'
import { whyHidden } from './hiding.ts'

/** A hint that opens later than this after its effect can be seen is late. Unit: seconds. */
const WITHIN_S = 10
/** Samples come once a second. */
const SAMPLED_S = 1
/** A healthy node runs for so long before it is struck. Unit: seconds. */
const BEFORE_S = 75
/** And is looked at for so long after. Unit: seconds. */
const AFTER_S = 150
/** The second of two faults comes at most so long after the first. Unit: seconds. */
const APART_S = 30

/** The result of a fault. */
export interface Finding extends Fault {
  /**
   * `below`: it was not told in time, and need not be, for it is below a limit that is written down. `hidden`: nor need
   * it be, for the other fault hides it.
   */
  readonly outcome: 'told' | 'late' | 'wrong device' | 'missed' | 'below' | 'hidden'
  /** From when its effect could be seen. Unit: seconds; NaN if it was not told. */
  readonly delayS: number
  /** How often its hints opened again: one episode is one hint. 0 if it need not be told. */
  readonly reopened: number
}

/** What one round found. */
export interface RoundFindings {
  readonly seed: number
  /** One, or a pair. */
  readonly faults: readonly Finding[]
  /** Hints that no fault explains. */
  readonly strange: readonly string[]
}

/** A fault, and when it begins. */
type SetFault = Fault & { readonly onsetS: number }

/** Strikes a node with one fault, or with two, and looks at what its hints say. */
export function strike(random: Random): RoundFindings {
  const seed = random.integer(1, 1_000_000_000)
  const nodeClass = random.pick(CLASS_NAMES)
  const workload = random.pick(['training', 'inference'] as const)
  const node = new HintedNode({ seed, nodeClass, workload })
  const drawnFaults = drawFaults(random, node, { nodeClass, workload })
  node.run(BEFORE_S)
  const before = new Set(node.open().map(({ id }) => id))
  const faults = drawnFaults.map((fault, index): SetFault => {
    const { scenario, device, severity } = fault
    const delayS = random.next() * (index === 0 ? 1 : APART_S)
    const where = device === 'sim-node' ? {} : { device }
    const onsetS = node.start({ name: scenario, severity, delayS, durationS: AFTER_S * 2, ...where })
    return { ...fault, onsetS }
  })
  node.run(AFTER_S)
  const openings = node.openings.filter(({ id }) => !before.has(id))
  return {
    seed,
    faults: faults.map((fault) =>
      findingOf(
        fault,
        openings,
        faults.find((other) => other !== fault),
      ),
    ),
    strange: openings.map(({ id }) => id).filter((id) => !faults.some((fault) => explains(fault, id))),
  }
}

/** Scenarios that strike a second device as well: the other rail, the other port of the card. */
const SHARED: readonly string[] = ['hash-collision', 'pcie-downtrain']

/** One fault, or two that are not the same one on the same device. */
function drawFaults(random: Random, node: HintedNode, place: Pick<Fault, 'nodeClass' | 'workload'>): Fault[] {
  const first = drawFault(random, node, place)
  if (random.chance(0.5)) return [first]
  for (;;) {
    const second = drawFault(random, node, place)
    if (second.scenario !== first.scenario || second.device !== first.device) return [first, second]
  }
}

function drawFault(random: Random, { node }: HintedNode, place: Pick<Fault, 'nodeClass' | 'workload'>): Fault {
  for (;;) {
    const scenario = random.pick(drawn(SCENARIOS)) as Scenario
    const targets = targetsOf(node, scenario)
    const isOfNode = scenario.target === 'node'
    if (!isOfNode && targets.length === 0) continue
    const device = isOfNode ? 'sim-node' : deviceId(node, random.pick(targets))
    const { min, max } = scenario.severity
    return { ...place, scenario: scenario.name, device, severity: min + random.next() * (max - min) }
  }
}

function findingOf(fault: SetFault, openings: HintedNode['openings'], other: Fault | undefined): Finding {
  const { tells, visibleS = () => 0 } = expectedOf(fault)
  const telling = openings.filter(({ id }) => tells.includes(ruleOf(id)))
  const right = telling.filter(({ id }) => isOn(fault, id))
  const excuse = excuseOf(fault, other)
  const reopened = excuse === undefined ? right.length - new Set(right.map(({ id }) => id)).size : 0
  // Of a wrong device only if nothing else that was set is told by the same rule.
  const isWrong = telling.some(({ id }) => other === undefined || !explains(other, id))
  if (right.length === 0) {
    const outcome = excuse ?? (isWrong ? 'wrong device' : 'missed')
    return { ...fault, outcome, delayS: Number.NaN, reopened }
  }
  const delayS = Math.min(...right.map(({ atS }) => atS)) - fault.onsetS - visibleS(fault)
  const isLate = delayS > WITHIN_S + SAMPLED_S
  return { ...fault, outcome: isLate ? (excuse ?? 'late') : 'told', delayS, reopened }
}

/** Why a fault need not be told. */
function excuseOf(fault: Fault, other: Fault | undefined): 'below' | 'hidden' | undefined {
  if (expectedOf(fault).isBelow?.(fault) === true) return 'below'
  return other !== undefined && whyHidden(other, fault) !== undefined ? 'hidden' : undefined
}

/** Whether a hint is about the device that was struck, or the node. */
function isOn(fault: Fault, id: string): boolean {
  const device = id.slice(id.indexOf('/') + 1)
  if (expectedOf(fault).on !== 'node') return device === fault.device
  // A node with one working GPU may report the fault for that GPU: it has only one, or has lost the other.
  return device === 'sim-node' || (!fault.nodeClass.startsWith('hgx') && device.startsWith('sim-gpu-'))
}

function explains(fault: Fault, id: string): boolean {
  const { tells, also = [] } = expectedOf(fault)
  const rule = ruleOf(id)
  if (also.includes(rule)) return true
  return tells.includes(rule) && (isOn(fault, id) || SHARED.includes(fault.scenario))
}

function ruleOf(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

function expectedOf({ scenario }: Fault): Expected {
  return EXPECTED[scenario] as Expected
}
