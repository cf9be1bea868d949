import type { Labels } from '@sonde/sdk'
import type { FailedRead } from '@sonde/sdk/api'
import { type JsonObject, JsonReader, type TypeDefinition } from '@sonde/sdk/internal'
import type { Probe } from '../sources/source.ts'
import { fault } from './channel.ts'
import type { FromHost, SaidError, TapInfo, WindowEnd } from './protocol.ts'
import type { SampleCall } from './source-stats.ts'
import type { StuckCall } from './stuck-call.ts'

const read = new JsonReader((message) => fault(`holds a message that is wrong: ${message}`))

const CLOCKS = ['wall', 'monotonic', 'device'] as const
const STATES = ['starting', 'reading', 'absent', 'denied', 'starved', 'stuck', 'failed'] as const
const PROBES = ['absent', 'denied', 'stuck', 'failed'] as const
const REASON = /^[a-z][a-z0-9_]{0,63}$/
const DECIMAL = /^\d{1,19}$/
/** Reasons of drops in one message, and places that could not be read. */
const ENTRY_COUNT_MAX = 64
/** Calls of one message. */
const CALL_COUNT_MAX = 1024
/** Devices of a source. */
const DEVICE_COUNT_MAX = 4096
/** Rings of a source. */
const TAP_COUNT_MAX = 4096
/** A longer text is cut. */
const TEXT_CHARACTERS_MAX = 65_536

/**
 * Checks a message of a child, which is not trusted because vendor code shares its memory. For example, a count that is
 * no whole number would stop the reports of all counts. `LinkIn` checks records, and the caller checks the value of a
 * reply.
 *
 * @throws SondeError `AGT_CHILD_MESSAGE` with the fault.
 */
export function fromHost(said: unknown, bytes: Uint8Array | undefined): FromHost {
  const message = read.object('a message', said)
  switch (message.kind) {
    case 'symbols':
      return {
        kind: 'symbols',
        source: shortText('source', message.source),
        firstId: countOf('firstId', message.firstId),
        texts: textsOf(message.texts),
      }
    case 'type':
      return {
        kind: 'type',
        source: shortText('source', message.source),
        fingerprint: shortText('fingerprint', message.fingerprint),
        // Checked when a type is made from it.
        definition: message.definition as TypeDefinition,
      }
    case 'labels':
      return { kind: 'labels', source: shortText('source', message.source), labels: labelsOf(message.labels) }
    case 'batch':
      return batchOf(message, bytes)
    case 'status':
      return statusOf(message)
    case 'edge':
      return edgeOf(message)
    case 'reply':
      return {
        kind: 'reply',
        id: countOf('id', message.id),
        ...(message.error === undefined ? { value: message.value } : { error: errorOf(message.error) }),
      }
    case 'stopped':
      return {
        kind: 'stopped',
        open: read.list('open', message.open, DEVICE_COUNT_MAX).map((one) => shortText('open', one)),
      }
    case 'beat':
    case 'blocked':
      return { kind: message.kind }
  }
  throw fault('holds a message of no kind')
}

function batchOf(message: JsonObject, bytes: Uint8Array | undefined): FromHost {
  const clock = read.oneOf('clock', message.clock, CLOCKS)
  if (bytes === undefined) throw fault('holds a batch without bytes')
  return {
    ...{ kind: 'batch', source: shortText('source', message.source), clock, bytes },
    type: shortText('type', message.type),
    count: countOf('count', message.count),
    ...(message.window === undefined ? {} : { window: countOf('window', message.window) }),
  }
}

function statusOf(message: JsonObject): FromHost {
  const state = read.oneOf('state', message.state, STATES)
  return {
    ...{ kind: 'status', source: shortText('source', message.source), state },
    reason: shortText('reason', message.reason),
    found: shortText('found', message.found),
    stuck: read.list('stuck calls', message.stuck, DEVICE_COUNT_MAX).map(stuckOf),
    calls: read.list('calls', message.calls, CALL_COUNT_MAX).map(callOf),
    overruns: countOf('overruns', message.overruns),
    failed: countOf('failed', message.failed),
    failures: read.list('failures', message.failures, ENTRY_COUNT_MAX).map(failureOf),
    dropped: droppedOf(message.dropped),
  }
}

function labelsOf(given: unknown): Labels {
  const entries = Object.entries(read.object('labels', given))
  return Object.fromEntries(entries.map(([name, value]) => [name, shortText('a label', value)]))
}

function edgeOf(message: JsonObject): FromHost {
  const { source, rule, device, event, monoNs, errorNs, isStart, isLost } = message
  for (const ns of [monoNs, errorNs]) if (typeof ns !== 'string' || !DECIMAL.test(ns)) throw fault('holds no time')
  return {
    ...{
      kind: 'edge',
      source: shortText('source', source),
      rule: shortText('rule', rule),
      device: shortText('device', device),
    },
    ...{ event: countOf('event', event), monoNs: monoNs as string, errorNs: errorNs as string },
    isStart: isStart === true,
    isLost: isLost === true,
  }
}

function stuckOf(given: unknown): StuckCall {
  const { device, duty, sinceMs, limitMs, limitKey } = read.object('a stuck call', given)
  return {
    device: shortText('device', device),
    duty: shortText('duty', duty),
    sinceMs: countOf('sinceMs', sinceMs),
    limitMs: countOf('limitMs', limitMs),
    limitKey: shortText('limitKey', limitKey),
  }
}

function callOf(given: unknown): SampleCall {
  const { durationMs, endMs, isFirstDuty } = read.object('a call', given)
  const times = [durationMs, endMs] as number[]
  if (!times.every((time) => Number.isFinite(time) && time >= 0)) throw fault('holds a call without its times')
  return { durationMs: durationMs as number, endMs: endMs as number, isFirstDuty: isFirstDuty === true }
}

function failureOf(given: unknown): FailedRead {
  const { place, message, count, lastMs } = read.object('a failure', given)
  return {
    place: shortText('place', place),
    message: shortText('message', message),
    count: countOf('count', count),
    lastMs: countOf('lastMs', lastMs),
  }
}

function droppedOf(given: unknown): Record<string, number> {
  const entries = Object.entries(read.object('dropped', given))
  if (entries.length > ENTRY_COUNT_MAX || entries.some(([reason]) => !REASON.test(reason)))
    throw fault('holds reasons of drops that are none')
  return Object.fromEntries(entries.map(([reason, records]) => [reason, countOf(reason, records)]))
}

function errorOf(given: unknown): SaidError {
  const { code, message } = read.object('an error', given)
  return { code: shortText('code', code), message: shortText('message', message) }
}

/**
 * Checks the answer of a probe.
 *
 * @throws SondeError `AGT_CHILD_MESSAGE` if it is invalid.
 */
export function probeOf(given: unknown): Probe {
  const { state, found, reason } = read.object('a probe', given)
  if (state === 'present') return { state, found: shortText('found', found) }
  return { state: read.oneOf('state', state, PROBES), reason: shortText('reason', reason) }
}

/**
 * Checks the end of a window.
 *
 * @throws SondeError `AGT_CHILD_MESSAGE` if it is invalid.
 */
export function windowEndOf(given: unknown): WindowEnd {
  const { records, leftOut } = read.object('a window', given)
  return { records: countOf('records', records), leftOut: countOf('leftOut', leftOut) }
}

/**
 * The rings of a source.
 *
 * @throws SondeError `AGT_CHILD_MESSAGE` if it is no list of them.
 */
export function tapsOf(given: unknown): TapInfo[] {
  return read.list('rings', given, TAP_COUNT_MAX).map((one) => {
    const { type, device, rules, capacity, count, recordBytes, oldestMonoNs, newestMonoNs } = read.object('a ring', one)
    return {
      ...{ type: shortText('type', type), device: shortText('device', device), rules: textsOf(rules) },
      ...{ capacity: countOf('capacity', capacity), count: countOf('count', count) },
      recordBytes: countOf('recordBytes', recordBytes),
      ...{ oldestMonoNs: timeOf(oldestMonoNs), newestMonoNs: timeOf(newestMonoNs) },
    }
  })
}

function timeOf(given: unknown): string {
  if (typeof given !== 'string' || !DECIMAL.test(given)) throw fault('holds no time')
  return given
}

function textsOf(given: unknown): string[] {
  return read.list('texts', given).map((text) => shortText('a text', text))
}

function shortText(what: string, given: unknown): string {
  return read.text(what, given).slice(0, TEXT_CHARACTERS_MAX)
}

function countOf(what: string, given: unknown): number {
  return read.integer(what, given, 0, Number.MAX_SAFE_INTEGER)
}
