// How fast records reach the service and are stored there, how long a record is under way, and what that costs the
// application's event loop.
import { atLeast, atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { Contest } from './contest.ts'
import { RATE, type Steady, steady } from './steady.ts'
import { ratioOf, type Turn } from './turn.ts'

/** Parts of the stub's speed, and times that of JSON lines. */
const GATES = { agent: 0.5, up: 0.2, lines: 5 }
/** What compaction may have to do yet. Unit: megabytes. */
const BACKLOG_GATE_MB = 2048
const LATENCY_GATE_MS = 8
const TURN_GATE_MS = 8
/** What a turn of the main loop of a service may take. */
const SERVICE_TURN_GATE_MS = 10

/** The same application at a steady rate: its records go to the stub, to the agent, and nowhere. */
interface SteadyRounds {
  readonly stub: Steady[]
  readonly agent: Steady[]
  readonly nobody: Steady[]
}

/** See the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const contest = await Contest.start()
  const steadies: SteadyRounds = { stub: [], agent: [], nobody: [] }
  try {
    // The first round warms the processes up.
    for (let round = -1; round < rounds; round++) {
      await contest.round({ isCounted: round >= 0 })
      if (round < 0) continue
      steadies.stub.push(await steady(contest.stub))
      steadies.agent.push(await steady(contest.agent))
      steadies.nobody.push(await steady(undefined))
    }
    const backlog = await contest.backlog()
    return {
      figures: [...speedFigures(contest.turns), ...backlogFigures(backlog), ...steadyFigures(steadies)],
      lines: NOTES,
    }
  } finally {
    await contest.stop()
  }
}

function speedFigures(turns: Contest['turns']): Figure[] {
  const ratio = (name: string, ours: readonly Turn[], theirs: readonly Turn[], wanted: number): Figure => {
    const value = ratioOf(ours, theirs)
    return { name, value, unit: 'x', gate: atLeast(value, wanted) }
  }
  const all = Object.values(turns)
  return [
    ratio('packed records, agent, against the stub', turns.agent.turns, turns.stub.turns, GATES.agent),
    ratio('packed records, sonde up, against the stub', turns.up.turns, turns.stub.turns, GATES.up),
    ratio('packed records, agent, against JSON lines', turns.agent.turns, turns.agentLines.turns, GATES.lines),
    ratio('packed records, sonde up, against JSON lines', turns.up.turns, turns.upLines.turns, GATES.lines),
    ...all.map(({ name, turns: taken }) => {
      const value = median(taken.map(({ millionsPerSecond }) => millionsPerSecond))
      return { name, value, unit: 'M records/s' }
    }),
    ...all.map(({ name, turns: taken }) => {
      const value = median(taken.map(({ cpuSeconds }) => cpuSeconds))
      return { name: `${name}, processor time of both sides`, value, unit: 's/M records' }
    }),
    ...[turns.agent, turns.up].map(({ name, turns: taken }) => {
      const value = Math.max(...taken.map(({ loopMsMax }) => loopMsMax ?? Number.NaN))
      const gate = atMost(value, SERVICE_TURN_GATE_MS)
      return { name: `${name}, longest turn of the service's loop`, value, unit: 'ms', gate }
    }),
  ]
}

function backlogFigures({ mbMax, seconds }: Awaited<ReturnType<Contest['backlog']>>): Figure[] {
  return [
    { name: 'sonde up, records to compact, most', value: mbMax, unit: 'MB', gate: atMost(mbMax, BACKLOG_GATE_MB) },
    { name: 'sonde up, compacted after the load', value: seconds, unit: 's' },
  ]
}

function steadyFigures({ stub, agent, nobody }: SteadyRounds): Figure[] {
  const p99 = median(stub.map(({ latenciesMs }) => percentile(latenciesMs, 0.99)))
  const turnOf = (rounds: readonly Steady[]): number => Math.max(...rounds.map(({ turnCpuMsMax }) => turnCpuMsMax))
  const turn = turnOf(agent)
  const ms = (name: string, value: number, gate?: string): Figure => {
    return { name: `${name} at ${RATE / 1000} k records/s`, value, unit: 'ms', ...(gate && { gate }) }
  }
  return [
    ms('under way to the stub, p99', p99, atMost(p99, LATENCY_GATE_MS)),
    ms('under way to the stub, p50', median(stub.map(({ latenciesMs }) => percentile(latenciesMs, 0.5)))),
    ms('acknowledged by the agent, p99', median(agent.map(({ acksMs }) => percentile(acksMs, 0.99)))),
    ms('acknowledged by the agent, p50', median(agent.map(({ acksMs }) => percentile(acksMs, 0.5)))),
    ms("longest turn of the application's loop, agent", turn, atMost(turn, TURN_GATE_MS)),
    ms("longest turn of the application's loop, stub", turnOf(stub)),
    ms("longest turn of the application's loop, records discarded", turnOf(nobody)),
    ms(
      "longest turn of the application's loop, agent, by the clock",
      Math.max(...agent.map(({ turnMsMax }) => turnMsMax)),
    ),
  ]
}

function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}

const NOTES = [
  'Records of 100 bytes. The stub counts each, adds up a number of each and keeps nothing. The agent has `/metrics`, the live window and files on, `sonde up` the store too; what they say is acknowledged is written.',
  'Speed is from the first report to the last acknowledgement; ratios are taken within a round, figures are medians of the rounds unless they are called longest or most. Processes that do not have their turn stand still.',
  'JSON lines are parsed by a process of this benchmark and handed to an agent with the same sinks, which answers when all are written.',
  "Latency is from the clock reading in a record to its being counted. The longest turn of an application's loop is processor time, everything in it included, the longest of all rounds; records are reported every 2 ms.",
]
