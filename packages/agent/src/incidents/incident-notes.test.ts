import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, SondeError } from '@sonde/sdk'
import type { KeptRequest } from '../pipeline/kept-records.ts'
import { IncidentNotes } from './incident-notes.ts'

const START_MS = Date.UTC(2026, 10, 30)

/** A history that gives the earliest records of a time, as the store does. */
function history() {
  const kept: { readonly atMs: number; readonly batch: Batch }[] = []
  const emit = (batch: Batch) => void kept.push({ atMs: Date.now(), batch: { ...batch, bytes: batch.bytes.slice() } })
  const records = async ({ fromMs, toMs, recordLimit }: KeptRequest): Promise<Batch[]> => {
    const found = kept.filter(({ atMs }) => atMs > fromMs && atMs <= toMs)
    return found.slice(0, recordLimit).map(({ batch }) => batch)
  }
  return { emit, records }
}

test('of very many notes a later life has the latest, as the life in which they were written', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: START_MS })
  const store = history()
  const notes = new IncidentNotes(store)
  await notes.opened()
  for (let number = 0; number < 12_000; number++) {
    // Several notes of one millisecond.
    if (number % 3 === 0) t.mock.timers.tick(1)
    notes.add(`node:${Math.floor(number / 100)}`, 'note', 'ada', `${number}`)
  }
  notes.add('node:119', 'acknowledged', 'bob', '')
  const later = new IncidentNotes(store)
  await later.opened()
  for (const life of [notes, later]) {
    assert.deepEqual([life.notesOf('node:0').length, life.notesOf('node:118').length], [0, 100])
    assert.equal(life.notesOf('node:119').at(-1)?.text, '11999')
    assert.equal(life.acknowledgedBy('node:119')?.who, 'bob')
  }
})

test('a note has some text, and an incident has a limited number of notes', () => {
  const notes = new IncidentNotes({ emit: () => undefined, records: undefined })
  const refusal = (text: string) => {
    try {
      notes.add('node:1', 'note', '', text)
      return ''
    } catch (error) {
      return error instanceof SondeError ? `${error.code} ${error.message}` : String(error)
    }
  }
  for (const text of ['', ' \n\u00a0']) assert.equal(refusal(text), 'INC_FORM a note has no text')
  assert.match(refusal('x'.repeat(2001)), /^INC_FORM a note has 2001 characters; allowed: 2000 at most$/)
  for (let number = 0; number < 100; number++) assert.equal(refusal(`${number}`), '')
  assert.match(refusal('one more'), /^INC_LIMIT/)
})
