import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { SondeError } from '@sonde/sdk'
import { NONSENSE } from '../../test/unruly-source.ts'
import { frameOf, readFrames } from './channel.ts'
import { fromHost } from './from-host.ts'
import type { FromHost } from './protocol.ts'

const LIMIT_BYTES = 1 << 20
const STATUS = {
  ...{
    kind: 'status',
    source: 'made',
    state: 'reading',
    reason: '',
    found: 'one',
    stuck: [{ device: 'dev0', duty: 'read', sinceMs: 7, limitMs: 5, limitKey: '' }],
  },
  ...{ calls: [{ durationMs: 0.5, endMs: 7, isFirstDuty: true }], overruns: 0, failed: 0, failures: [] },
  dropped: { flood: 3 },
} as const
const BATCH = {
  kind: 'batch',
  source: 'made',
  type: 'a'.repeat(32),
  clock: 'wall',
  count: 2,
  bytes: new Uint8Array([1, 2, 3]),
} as const

/** The messages that an agent decodes from chunks of the pipe of its child. */
function read(pieces: readonly Uint8Array[]): { messages: FromHost[]; faults: SondeError[] } {
  const pipe = new PassThrough()
  const [messages, faults]: [FromHost[], SondeError[]] = [[], []]
  readFrames(
    pipe as unknown as Socket,
    LIMIT_BYTES,
    ({ said, bytes }) => messages.push(fromHost(said, bytes)),
    (error) => faults.push(error),
  )
  for (const piece of pieces) pipe.emit('data', Buffer.from(piece))
  return { messages, faults }
}

test('messages come out as they went in, however the pipe cuts them', () => {
  const whole = Buffer.concat([BATCH, STATUS, BATCH].map(frameOf))
  for (const size of [1, 7, 8, 9, 64, whole.length]) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    )
    assert.deepEqual(read(pieces), { messages: [BATCH, STATUS, BATCH], faults: [] }, `pieces of ${size}`)
  }
})

for (const [name, bytes] of Object.entries(NONSENSE)) {
  test(`what is no message (${name}) is told once, and what comes behind it is not read`, () => {
    const { messages, faults } = read([Buffer.concat([frameOf(STATUS), bytes]), frameOf(STATUS)])
    assert.deepEqual(messages, [STATUS])
    assert.deepEqual(
      faults.map(({ code }) => code),
      ['AGT_CHILD_MESSAGE'],
    )
  })
}

test('a message beyond the limit is refused by its length, before it is there', () => {
  const head = frameOf({ ...BATCH, bytes: new Uint8Array(LIMIT_BYTES) }).subarray(0, 8)
  assert.match(read([head]).faults[0]?.message ?? '', /a message of \d+ bytes; allowed: 1048576; it is replaced$/)
})
