import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'

/** Traffic over a real interface of this machine. */
export interface Traffic {
  /** The interface that carries it. */
  readonly device: string
  /** Whether nothing but this traffic passes the interface. */
  readonly isAlone: boolean
  /** Sends at this rate until it is changed. Payload, without headers. */
  bytesPerSecond: number
}

/**
 * Two ends of one cable, and which of the 16 384 small networks it gets from the range that is reserved for tests of
 * devices.
 */
export interface Pair {
  readonly near: string
  readonly far: string
  readonly network: number
}

/** One of its own for each process, because test files run side by side. */
const TEST_PAIR: Pair = { near: `sonde${process.pid}a`, far: `sonde${process.pid}b`, network: process.pid % 16_384 }
const PAYLOAD = Buffer.alloc(1_000)
/** Nobody listens there: the far end of the pair drops what it gets. */
const DISCARD_PORT = 9
const TICK_MS = 20

/**
 * Makes a pair of virtual interfaces where this user may, else takes the loopback. Nothing is sent before a rate is
 * set.
 */
export async function startTraffic(test: Pick<TestContext, 'after'>, pair = TEST_PAIR): Promise<Traffic> {
  const isAlone = makePair(test, pair)
  const socket = createSocket('udp4')
  const bin = createSocket('udp4')
  test.after(() => {
    socket.close()
    bin.close()
  })
  let port = DISCARD_PORT
  if (!isAlone) {
    await new Promise<void>((resolve) => bin.bind(0, '127.0.0.1', resolve))
    port = bin.address().port
  }
  const traffic: Traffic = { device: isAlone ? pair.near : 'lo', isAlone, bytesPerSecond: 0 }
  let owed = 0
  let lastMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    owed += (traffic.bytesPerSecond * (nowMs - lastMs)) / 1000
    lastMs = nowMs
    for (; owed >= PAYLOAD.length; owed -= PAYLOAD.length) {
      socket.send(PAYLOAD, port, isAlone ? addressesOf(pair).far : '127.0.0.1')
    }
  }, TICK_MS)
  test.after(() => clearInterval(timer))
  return traffic
}

/** Bytes that an interface has sent, from the kernel's own table. */
export function bytesSent(device: string): number {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((row) => row.trimStart().startsWith(`${device}:`))
  return Number(line?.split(':')[1]?.trim().split(/\s+/)[8])
}

function addressesOf({ network }: Pair): { near: string; far: string } {
  const prefix = `198.18.${network >> 6}`
  const first = (network & 63) * 4
  return { near: `${prefix}.${first + 1}/30`, far: `${prefix}.${first + 2}` }
}

function makePair(test: Pick<TestContext, 'after'>, pair: Pair): boolean {
  const { near, far } = pair
  const addresses = addressesOf(pair)
  if (process.getuid?.() !== 0) return false
  try {
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far)
  } catch {
    // No such program, no right to it, or a kernel without such pairs: the loopback serves as well.
    return false
  }
  test.after(() => ip('link', 'delete', near))
  ip('address', 'add', addresses.near, 'dev', near)
  ip('link', 'set', near, 'up')
  ip('link', 'set', far, 'up')
  // A fixed neighbour, so that nothing is asked on the wire before the first byte.
  ip('neighbour', 'add', addresses.far, 'lladdr', '02:00:00:00:00:02', 'dev', near)
  return true
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
