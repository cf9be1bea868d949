import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import { pack, Unpackr } from 'msgpackr'
import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { RECORDS } from '../port-records.ts'

/** Messages of a sender in one turn. */
const MESSAGES = 300
const WARM_ROUNDS = 4
const SENDERS = {
  Sonde: ['sender-main.ts', 'sonde'],
  'Sonde with its queue': ['sender-main.ts', 'queue'],
  '@fluent-org/logger': ['rival-main.mjs'],
} as const
type Sender = keyof typeof SENDERS

/** What costs an event in a turn. Unit: nanoseconds of processor time. */
type Round = Readonly<Record<Sender, number>>

const unpackr = new Unpackr({ useRecords: false })

/** Counts events, and acknowledges messages that want it. */
class Receiver {
  events = 0
  sum = 0
  readonly server: Server = createServer((socket) => {
    let pieces: Buffer[] = []
    socket.on('data', (bytes: Buffer) => {
      pieces.push(bytes)
      const whole = Buffer.concat(pieces)
      const { values, end } = wholeValues(whole)
      pieces = [whole.subarray(end)]
      for (const [, entries, option] of values as [string, Buffer, { chunk?: string }][]) {
        for (const [, record] of wholeValues(entries).values as [unknown, { number: number }][]) {
          this.events++
          this.sum += record.number
        }
        if (option?.chunk !== undefined) socket.write(pack({ ack: option.chunk }))
      }
    })
  })

  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return (this.server.address() as AddressInfo).port
  }

  /** Waits until this many events more have come; fails if their numbers are not those that were sent. */
  async expect(events: number): Promise<void> {
    const endMs = performance.now() + 60_000
    while (this.events < events && performance.now() < endMs) await new Promise((done) => setTimeout(done, 5))
    const sum = (events / RECORDS) * ((RECORDS * (RECORDS - 1)) / 2)
    if (this.events !== events || this.sum !== sum)
      throw new Error(`${this.events} of ${events} events came, the sum of their numbers is ${this.sum} of ${sum}`)
    this.events = 0
    this.sum = 0
  }
}

function wholeValues(bytes: Buffer): { readonly values: readonly unknown[]; readonly end: number } {
  const values: unknown[] = []
  let end = 0
  try {
    unpackr.unpackMultiple(bytes, ((value: unknown, _from: number, to: number) => {
      values.push(value)
      end = to
    }) as never)
  } catch (error) {
    if ((error as { incomplete?: boolean }).incomplete !== true) throw error
  }
  return { values, end }
}

async function start(sender: Sender, port: number): Promise<ChildProcess> {
  const [file, ...args] = SENDERS[sender]
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(path, [...args, `${port}`], { execArgv: ['--conditions=source'] })
  await once(child, 'message')
  return child
}

/** What an event costs to send; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const receiver = new Receiver()
  const port = await receiver.listen()
  const names = Object.keys(SENDERS) as Sender[]
  const children = new Map<Sender, ChildProcess>()
  try {
    for (const name of names) children.set(name, await start(name, port))
    const measured: Round[] = []
    for (let round = -WARM_ROUNDS; round < rounds; round++) {
      const turn: Partial<Record<Sender, number>> = {}
      for (const [name, child] of children) {
        child.send(MESSAGES)
        const [microseconds] = (await once(child, 'message')) as [number]
        await receiver.expect(MESSAGES * RECORDS)
        turn[name] = (microseconds * 1000) / (MESSAGES * RECORDS)
      }
      if (round >= 0) measured.push(turn as Round)
    }
    return resultOf(measured)
  } finally {
    for (const child of children.values()) child.kill()
    receiver.server.close()
  }
}

function resultOf(measured: readonly Round[]): BenchResult {
  const nsOf = (name: Sender) => median(measured.map((round) => round[name]))
  const ratioOf = (name: Sender) => median(measured.map((round) => round['@fluent-org/logger'] / round[name]))
  const direct = ratioOf('Sonde')
  const figures: Figure[] = [
    ...(Object.keys(SENDERS) as Sender[]).map((name) => ({
      name: `processor: ${name}`,
      value: nsOf(name),
      unit: 'ns an event',
    })),
    { name: 'Sonde against @fluent-org/logger', value: direct, unit: 'x', gate: atLeast(direct, 15) },
    { name: 'Sonde with its queue against @fluent-org/logger', value: ratioOf('Sonde with its queue'), unit: 'x' },
  ]
  const spread = measured.map((round) => (round['@fluent-org/logger'] / round.Sonde).toFixed(1)).join(', ')
  return { figures, lines: [`Ratios of the rounds: ${spread}. ${MESSAGES} messages of ${RECORDS} events a turn.`] }
}
