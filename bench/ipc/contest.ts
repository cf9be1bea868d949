import { type FarEnd, type Service, startLines, startService, startStub } from './far-ends.ts'
import { lines, objects, packed, type Sender } from './senders.ts'
import { type Turn, take } from './turn.ts'

/** How long what is to be compacted is waited for after the load. Unit: milliseconds. */
const COMPACT_LIMIT_MS = 30_000
const LOOK_EVERY_MS = 500

/** A sender, where it reports to, and for how long in each round. */
interface Contender {
  readonly name: string
  readonly sender: Sender
  readonly farEnd: FarEnd
  readonly durationMs: number
  readonly turns: Turn[]
}

/** All senders and far ends of the benchmark, which have their turns one after the other. */
export class Contest {
  readonly stub: FarEnd
  readonly agent: Service
  readonly turns: Readonly<
    Record<'stub' | 'agent' | 'up' | 'stubObjects' | 'agentObjects' | 'agentLines' | 'upLines', Contender>
  >
  readonly #up: Service
  readonly #farEnds: readonly FarEnd[]
  #backlogBytesMax = 0

  private constructor(stub: FarEnd, agent: Service, up: Service, agentLines: FarEnd, upLines: FarEnd) {
    this.stub = stub
    this.agent = agent
    this.#up = up
    this.#farEnds = [stub, agent, up, agentLines, upLines]
    const contender = (name: string, sender: Sender, farEnd: FarEnd, durationMs: number): Contender => {
      return { name, sender, farEnd, durationMs, turns: [] }
    }
    // In seven rounds `sonde up` is loaded for a minute.
    this.turns = {
      stub: contender('packed records, stub', packed, stub, 1500),
      agent: contender('packed records, agent', packed, agent, 4300),
      up: contender('packed records, sonde up', packed, up, 8600),
      stubObjects: contender('objects, stub', objects, stub, 1000),
      agentObjects: contender('objects, agent', objects, agent, 1500),
      agentLines: contender('JSON lines, sinks of the agent', lines, agentLines, 2000),
      upLines: contender('JSON lines, sinks of sonde up', lines, upLines, 2500),
    }
  }

  static async start(): Promise<Contest> {
    const started: FarEnd[] = []
    const start = async <T extends FarEnd>(farEnd: Promise<T>): Promise<T> => {
      started.push(await farEnd)
      process.kill((await farEnd).pid, 'SIGSTOP')
      return farEnd
    }
    try {
      return new Contest(
        await start(startStub()),
        await start(startService('agent')),
        await start(startService('up')),
        await start(startLines('agent')),
        await start(startLines('up')),
      )
    } catch (error) {
      await Promise.allSettled(started.map((farEnd) => farEnd.stop()))
      throw error
    }
  }

  /** Everybody has a turn. */
  async round({ isCounted }: { readonly isCounted: boolean }): Promise<void> {
    for (const { sender, farEnd, durationMs, turns } of Object.values(this.turns)) {
      const turn = await take(sender, farEnd, durationMs)
      if (isCounted) turns.push(turn)
      if (farEnd === this.#up) this.#backlogBytesMax = Math.max(this.#backlogBytesMax, this.#up.backlogBytes())
    }
  }

  /**
   * What the store had to compact yet at most, and how long the rest takes once nothing more is reported: 30 s where it
   * takes longer.
   */
  async backlog(): Promise<{ readonly mbMax: number; readonly seconds: number }> {
    const startMs = performance.now()
    process.kill(this.#up.pid, 'SIGCONT')
    while (this.#up.dueBytes() > 0 && performance.now() - startMs < COMPACT_LIMIT_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
    return { mbMax: this.#backlogBytesMax / 1e6, seconds: (performance.now() - startMs) / 1000 }
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#farEnds.map((farEnd) => farEnd.stop()))
  }
}
