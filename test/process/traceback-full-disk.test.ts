// A disk of the agent's events that is really full: a small tmpfs in a mount namespace of the agent's own.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { IncidentsAnswer, TracebackEvent } from '@sonde/sdk/api'
import { eventPath, eventsIn } from '../../packages/agent/test/events-in.ts'
import { ask } from '../ask.ts'
import { assertStops, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const MAIN = fileURLToPath(new URL('../faults/events-main.ts', import.meta.url))
/** An event opens or ends so often. Unit: milliseconds. */
const AUTO_MS = 100
const LIMIT_MS = 60_000
const MAY_MOUNT = canMount() ? {} : { skip: 'this user may not mount in a namespace of its own' }

function canMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=64k none /tmp'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Fills the disk to the last byte. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (let bytes = 1 << 20; bytes >= 1; ) {
      try {
        writeSync(file, new Uint8Array(bytes))
      } catch {
        bytes >>= 1
      }
    }
  } finally {
    closeSync(file)
  }
}

function eventIn(
  sonde: SondeProcess,
  what: string,
  holds: (event: TracebackEvent) => boolean,
): Promise<TracebackEvent> {
  return until(what, LIMIT_MS, async () => {
    const { events } = eventsIn(
      await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event&state=ended&limit=1000'),
    )
    return events.find(holds)
  })
}

test('a full disk truncates the event in hand; once there is room, the next one is whole', MAY_MOUNT, async (t) => {
  const dir = temporaryDir()
  t.after(dir.remove)
  const mount = `mount -t tmpfs -o size=4m none ${dir.path} && exec "$0" "$@"`
  const sonde = await startSonde([String(AUTO_MS)], {
    main: MAIN,
    under: ['unshare', '-m', 'sh', '-c', mount],
    env: {
      ...{ SONDE_TRACEBACK_DIR: dir.path, SONDE_TRACEBACK_EVENTS_PER_MINUTE: '10000' },
      ...{ SONDE_TRACEBACK_BEFORE_MS: '100', SONDE_TRACEBACK_AFTER_MS: '20' },
    },
  })
  t.after(() => sonde.stop('SIGKILL'))
  await eventIn(sonde, 'an event', ({ end, samples }) => end === 'cleared' && samples > 0)
  const hog = join(`/proc/${sonde.child.pid}/root`, dir.path, 'hog')
  fill(hog)
  // Events before make room for the next, until none of them is left; then the hog has all.
  const truncated = await until('a truncated event', LIMIT_MS, async () => {
    fill(`${hog}${performance.now()}`)
    const { events } = eventsIn(
      await ask<IncidentsAnswer>(sonde, '/api/v1/incidents?kind=event&state=ended&limit=1000'),
    )
    return events.find(({ end }) => end === 'truncated')
  })
  assert.ok(truncated.leftOut > 0)
  execFileSync('sh', ['-c', `rm -f ${hog}*`])
  const whole = await eventIn(
    sonde,
    'the next event',
    ({ id, end, samples }) => id > truncated.id && end === 'cleared' && samples > 1000,
  )
  const file = await fetch(`${sonde.address}${eventPath(whole.id)}/file`)
  assert.deepEqual([file.status, (await file.arrayBuffer()).byteLength], [200, whole.sizeBytes])
  await assertStops(sonde)
})
