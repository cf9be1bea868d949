import type { TestContext } from 'node:test'
import type { FluentBitOptions } from '../src/sinks/fluent-bit/config.ts'
import { createFluentBit } from '../src/sinks/fluent-bit/fluent-bit.ts'
import { ForwardPeer } from './forward-peer.ts'
import { BatchSource } from './sink-records.ts'

/** Options under which a test is soon over. */
export const HASTY: FluentBitOptions = { lingerMs: 0, timeoutMs: 1000, backoffInitialMs: 10, backoffMaxMs: 20 }

/** A sink before a peer, with a source. */
export async function forwardRig(t: TestContext, options: FluentBitOptions = {}) {
  const peer = await ForwardPeer.start(t)
  const sink = createFluentBit({ port: peer.port, ...HASTY, ...options })
  t.after(() => sink.close())
  const source = new BatchSource({ id: 'nic', bufferBytes: 1 << 16 })
  const send = (ports: Readonly<Record<string, number>>) => sink.accept(source.ports(ports))
  const devices = () => peer.events.map(({ record }) => record.device)
  return { peer, sink, send, devices }
}
