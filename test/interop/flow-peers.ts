// Collectors of Debian: nfcapd, nfacctd and tshark, and a tee that gives all of them the same packets.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { programPath } from '../debian.ts'
import { until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
/** Time that nfacctd gets to end by itself, which it does not always. */
const NFACCTD_END_MS = 2000
const LINKTYPE_RAW = 101
const NFACCTD_ATTEMPTS_MAX = 4
/** Time in which nfacctd prints all flows, or never. */
const NFACCTD_LIMIT_MS = 10_000

/** A record as nfdump or nfacctd prints it in JSON. */
export type PrintedFlow = Readonly<Record<string, string | number>>

/** A port on which nobody listens. */
async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}

/** Ends a program that leads a process group, and the group after some time at most. */
async function end(child: ChildProcess, signal: NodeJS.Signals, limitMs: number): Promise<void> {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  child.kill(signal)
  const timer = setTimeout(() => killGroup(child), limitMs)
  await ended
  clearTimeout(timer)
  // Its children may outlive it.
  killGroup(child)
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The whole group has ended.
  }
}

/** nfcapd of nfdump. */
export class Nfcapd {
  readonly port: number
  readonly #dir: string
  #child: ChildProcess | undefined
  #log = ''

  private constructor(port: number, dir: string) {
    this.port = port
    this.#dir = dir
  }

  static async start(t: TestContext, dir: string): Promise<Nfcapd> {
    const nfcapd = new Nfcapd(await freeUdpPort(), join(dir, 'nfcapd'))
    mkdirSync(nfcapd.#dir)
    t.after(() => nfcapd.stop())
    await nfcapd.listen()
    return nfcapd
  }

  async listen(): Promise<void> {
    const options = ['-p', String(this.port), '-b', '127.0.0.1', '-w', this.#dir, '-t', '3600', '-B', '4000000', '-v']
    const child = spawn('nfcapd', options, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let said = ''
    const hear = (text: Buffer) => {
      said += text
      this.#log += text
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    this.#child = child
    await until('nfcapd listens', LIMIT_MS, () => said.includes('Startup nfcapd') && boundLine(this.port) !== undefined)
  }

  /** Whether no packet waits for it. */
  get isRead(): boolean {
    return / [0-9A-F]{8}:00000000 /.test(boundLine(this.port) ?? '')
  }

  /** Ends it, so that it writes what it has. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child !== undefined) await end(child, 'SIGTERM', LIMIT_MS)
  }

  /** All flows that it has written. Ends it. */
  async flows(): Promise<readonly PrintedFlow[]> {
    await this.stop()
    const text = execFileSync('nfdump', ['-R', this.#dir, '-o', 'json'], { maxBuffer: 1 << 28, encoding: 'utf8' })
    return JSON.parse(text) as PrintedFlow[]
  }

  /** Sums of its log. */
  get counts(): { readonly flows: number; readonly sequenceErrors: number; readonly badPackets: number } {
    let [flows, sequenceErrors, badPackets] = [0, 0, 0]
    for (const [, ...found] of this.#log.matchAll(/Flows: (\d+), .*Sequence Errors: (\d+), Bad Packets: (\d+)/g)) {
      const [one = 0, two = 0, three = 0] = found.map(Number)
      flows += one
      sequenceErrors += two
      badPackets += three
    }
    return { flows, sequenceErrors, badPackets }
  }
}

/** The line of a UDP socket of loopback in `/proc/net/udp`; undefined without a socket. */
function boundLine(port: number): string | undefined {
  const place = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} `
  return readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .find((line) => line.includes(place))
}

/** Passes each packet on to some collectors, and keeps it for tshark. */
export class FlowTee {
  readonly packets: Buffer[] = []
  readonly #socket: Socket
  /** Whether a packet is lost on the way. */
  loses: (packet: Buffer) => boolean = () => false

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  static async start(t: TestContext, ports: readonly number[]): Promise<FlowTee> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
    const tee = new FlowTee(socket)
    // A collector that has ended refuses; that is the business of the test.
    socket.on('error', () => undefined)
    socket.on('message', (packet) => {
      if (tee.loses(packet)) return
      tee.packets.push(packet)
      for (const port of ports) socket.send(packet, port, '127.0.0.1', () => undefined)
    })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    t.after(() => socket.close())
    return tee
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** The packets as a capture file, which is made anew. */
  capture(dir: string): string {
    const file = join(dir, 'packets.pcap')
    writeFileSync(file, pcapOf(this.packets))
    return file
  }

  /** The flows of all packets as nfacctd of pmacct has them, with the keys and counts of a list; waits for so many. */
  async nfacctd(dir: string, aggregate: string, flows: number): Promise<readonly PrintedFlow[]> {
    const capture = this.capture(dir)
    // It reads the file even if its plugin is not ready yet, which then gets nothing. That happens on a slow machine.
    for (let attempt = 0; attempt < NFACCTD_ATTEMPTS_MAX; attempt++) {
      const [config, output] = [join(dir, `nfacctd-${attempt}.conf`), join(dir, `nfacctd-${attempt}.json`)]
      writeFileSync(
        config,
        `daemonize: false
pcap_savefile: ${capture}
pcap_sf_wait: true
plugins: print
aggregate: ${aggregate}
print_refresh_time: 1
print_output: json
print_output_file: ${output}
print_output_file_append: true
`,
      )
      const printed = (): readonly PrintedFlow[] | undefined => {
        const lines = existsSync(output) ? readFileSync(output, 'utf8').split('\n').slice(0, -1) : []
        return lines.length < flows ? undefined : lines.map((line) => JSON.parse(line) as PrintedFlow)
      }
      const child = spawn(programPath('nfacctd') ?? 'nfacctd', ['-f', config], { stdio: 'ignore', detached: true })
      const found = await until('nfacctd has all flows', NFACCTD_LIMIT_MS, printed).catch(() => undefined)
      // At its end it may print flows again.
      await end(child, 'SIGINT', NFACCTD_END_MS)
      if (found !== undefined) return found
    }
    throw new Error(`nfacctd did not print ${flows} flows in ${NFACCTD_ATTEMPTS_MAX} attempts`)
  }

  /** The fields of all records as tshark reads them, one list a packet; fails if tshark complains. */
  tshark(dir: string, fields: readonly string[]): readonly (readonly string[])[] {
    const file = this.capture(dir)
    const run = (...options: string[]) =>
      execFileSync('tshark', ['-r', file, '-d', 'udp.port==2055,cflow', ...options], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 1 << 28,
      })
    assert.equal(run('-q', '-z', 'expert').trim(), '', 'tshark has nothing to complain about')
    const text = run('-T', 'fields', '-E', 'occurrence=a', '-E', 'separator=;', ...fields.flatMap((f) => ['-e', f]))
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(';'))
  }
}

/** A capture file of packets over UDP and IPv4. */
function pcapOf(packets: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(24)
  head.writeUInt32LE(0xa1b2c3d4, 0)
  head.writeUInt16LE(2, 4)
  head.writeUInt16LE(4, 6)
  head.writeUInt32LE(65_535, 16)
  head.writeUInt32LE(LINKTYPE_RAW, 20)
  return Buffer.concat([head, ...packets.flatMap((packet) => [frameHead(packet.length), packet])])
}

function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(16 + 28)
  head.writeUInt32LE(28 + bytes, 8)
  head.writeUInt32LE(28 + bytes, 12)
  const ip = head.subarray(16)
  ip.set([0x45, 0])
  ip.writeUInt16BE(28 + bytes, 2)
  ip.set([64, 17], 8)
  ip.set([127, 0, 0, 1, 127, 0, 0, 1], 12)
  ip.writeUInt16BE(40_000, 20)
  ip.writeUInt16BE(2055, 22)
  ip.writeUInt16BE(8 + bytes, 24)
  return head
}
