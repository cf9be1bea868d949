import type { FailedRead } from '../pipeline/failed-reads.ts'
import type { Probe } from '../sources/source.ts'
import { fault } from './channel.ts'
import type { FromHost } from './protocol.ts'

type Said = Readonly<Record<string, unknown>>

const CLOCKS = ['wall', 'monotonic', 'device'] as const
const PROBES = ['absent', 'denied', 'stuck', 'failed'] as const
const REASON = /^[a-z][a-z0-9_]{0,63}$/
/** Reasons of drops in one message, and places that could not be read. */
const ENTRY_COUNT_MAX = 64
/** A longer text is cut. */
const TEXT_CHARACTERS_MAX = 65_536

/**
 * What a child said, as a message: vendor code shares its memory, so nothing of it is believed. A count that is no
 * whole number would stop the report of everything else that is counted.
 *
 * @throws SondeError `AGT_CHILD_MESSAGE` that names what is wrong.
 */
export function fromHost(said: unknown, bytes: Uint8Array | undefined): FromHost {
  const message = objectOf('a message', said)
  switch (message.kind) {
    case 'symbols':
      return { kind: 'symbols', texts: listOf('texts', message.texts).map((text) => textOf('a symbol', text)) }
    case 'texts':
      return {
        kind: 'texts',
        begins: message.begins === true,
        firstId: countOf('firstId', message.firstId),
        texts: listOf('texts', message.texts).map((text) => textOf('a text', text)),
      }
    case 'batch': {
      const clock = CLOCKS.find((one) => one === message.clock)
      if (clock === undefined || bytes === undefined) throw fault('holds a batch without clock or bytes')
      return { kind: 'batch', type: textOf('type', message.type), clock, count: countOf('count', message.count), bytes }
    }
    case 'done':
      return {
        kind: 'done',
        id: countOf('id', message.id),
        failed: countOf('failed', message.failed),
        failures: shortListOf('failures', message.failures).map(failureOf),
        dropped: droppedOf(message.dropped),
        ...(message.probe === undefined ? {} : { probe: probeOf(message.probe) }),
        ...(message.error === undefined ? {} : { error: errorOf(message.error) }),
      }
  }
  throw fault('holds a message of no kind')
}

function failureOf(given: unknown): FailedRead {
  const { place, message, count, lastMs } = objectOf('a failure', given)
  return {
    place: textOf('place', place),
    message: textOf('message', message),
    count: countOf('count', count),
    lastMs: countOf('lastMs', lastMs),
  }
}

function droppedOf(given: unknown): Record<string, number> {
  const entries = Object.entries(objectOf('dropped', given))
  if (entries.length > ENTRY_COUNT_MAX || entries.some(([reason]) => !REASON.test(reason)))
    throw fault('holds reasons of drops that are none')
  return Object.fromEntries(entries.map(([reason, records]) => [reason, countOf(reason, records)]))
}

function probeOf(given: unknown): Probe {
  const { state, found, reason } = objectOf('a probe', given)
  if (state === 'present') return { state, found: textOf('found', found) }
  const other = PROBES.find((one) => one === state)
  if (other === undefined) throw fault('holds a probe without a state')
  return { state: other, reason: textOf('reason', reason) }
}

function errorOf(given: unknown): { code: string; message: string } {
  const { code, message } = objectOf('an error', given)
  return { code: textOf('code', code), message: textOf('message', message) }
}

function objectOf(what: string, given: unknown): Said {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) throw fault(`holds ${what} that is none`)
  return given as Said
}

function listOf(what: string, given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) throw fault(`holds ${what} that are no list`)
  return given
}

function shortListOf(what: string, given: unknown): readonly unknown[] {
  const list = listOf(what, given)
  if (list.length > ENTRY_COUNT_MAX) throw fault(`holds more than ${ENTRY_COUNT_MAX} ${what}`)
  return list
}

function textOf(what: string, given: unknown): string {
  if (typeof given !== 'string') throw fault(`holds ${what} that is no text`)
  return given.slice(0, TEXT_CHARACTERS_MAX)
}

function countOf(what: string, given: unknown): number {
  if (!Number.isSafeInteger(given) || (given as number) < 0) throw fault(`holds ${what} that is no count`)
  return given as number
}
