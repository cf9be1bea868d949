import { type Batch, readRecords, SondeError, type Source, text, timestamp, viewsOf } from '@sonde/sdk'
import type { IncidentNote } from '@sonde/sdk/api'
import { createOwnSource, defineOwnType } from '@sonde/sdk/internal'
import type { KeptRecords } from '../pipeline/kept-records.ts'

/** Longest text of a note. Unit: characters. */
export const NOTE_LENGTH_MAX = 2000
/** Most notes in memory, of all incidents. Policy: the oldest are dropped first; the history keeps them. */
const NOTE_COUNT_MAX = 10_000
/** Most notes of one incident. Policy: further notes are refused. */
const INCIDENT_NOTE_COUNT_MAX = 100
const NS_PER_MS = 1_000_000n

/** What people write on incidents, as records: the history keeps it as long as the incidents. */
const incidentNoteType = defineOwnType('sonde_incident_note', 'What a person wrote on an incident', {
  time: timestamp(),
  incident: text({ help: 'Id of the incident' }),
  kind: text({ help: 'acknowledged or note' }),
  who: text({ help: 'Name of the session; local if nobody needs to log in' }),
  note: text({ help: 'Text of the note' }),
})

/** Whether somebody saw an incident, or wrote a text. */
export type IncidentNoteKind = 'acknowledged' | 'note'

interface KeptNote extends IncidentNote {
  readonly kind: IncidentNoteKind
}

interface ReadNote extends KeptNote {
  readonly incident: string
}

/** Options of {@link IncidentNotes}. */
export interface IncidentNotesOptions {
  readonly emit: (batch: Batch) => void
  /** Reads the records of the store; undefined if no history is kept. */
  readonly records: KeptRecords['records'] | undefined
}

/** The notes of all incidents. */
export class IncidentNotes {
  readonly #source: Source
  readonly #records: IncidentNotesOptions['records']
  /** By incident, in the order of their first notes. */
  readonly #notes = new Map<string, KeptNote[]>()
  #count = 0
  #opening: Promise<void> | undefined

  constructor({ emit, records }: IncidentNotesOptions) {
    this.#source = createOwnSource({ id: 'incidents', emit })
    this.#records = records
  }

  /** Reads the notes of earlier lives, once. Rejects if the store does not answer; the next call tries again. */
  async opened(): Promise<void> {
    this.#opening ??= this.#read()
    try {
      await this.#opening
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  /** Who saw an incident first. */
  acknowledgedBy(id: string): IncidentNote | undefined {
    const found = this.#notes.get(id)?.find(({ kind }) => kind === 'acknowledged')
    return found && { atMs: found.atMs, who: found.who, text: found.text }
  }

  /** The notes of an incident, the earliest first. */
  notesOf(id: string): IncidentNote[] {
    const notes = this.#notes.get(id) ?? []
    return notes.filter(({ kind }) => kind === 'note').map(({ atMs, who, text }) => ({ atMs, who, text }))
  }

  /**
   * Adds a note. A second person who acknowledges changes nothing.
   * @throws SondeError `INC_FORM`, `INC_LIMIT`.
   */
  add(id: string, kind: IncidentNoteKind, who: string, text: string): void {
    if (text.length > NOTE_LENGTH_MAX)
      throw new SondeError('INC_FORM', `a note has ${text.length} characters; allowed: ${NOTE_LENGTH_MAX} at most`)
    if (kind === 'note' && text.trim() === '') throw new SondeError('INC_FORM', 'a note has no text')
    if (kind === 'acknowledged' && this.acknowledgedBy(id) !== undefined) return
    // There is one acknowledgement, which many notes do not prevent.
    if (kind === 'note' && this.notesOf(id).length >= INCIDENT_NOTE_COUNT_MAX)
      throw new SondeError('INC_LIMIT', `an incident has at most ${INCIDENT_NOTE_COUNT_MAX} notes`)
    const atMs = Date.now()
    this.#keep(id, { kind, atMs, who, text })
    this.#source.report(incidentNoteType, { time: BigInt(atMs) * NS_PER_MS, incident: id, kind, who, note: text })
    this.#source.flush()
  }

  async #read(): Promise<void> {
    const read = await this.#readAll()
    const ownNotes = [...this.#notes]
    this.#notes.clear()
    this.#count = 0
    for (const { incident, ...note } of read) this.#keep(incident, note)
    for (const [id, notes] of ownNotes) for (const note of notes) this.#keep(id, note)
  }

  /** The latest notes of the history. The store gives the earliest of a time first, so it is asked again and again. */
  async #readAll(): Promise<readonly ReadNote[]> {
    const toMs = Date.now()
    let read: ReadNote[] = []
    let fromMs = 0
    for (;;) {
      const request = { type: incidentNoteType.name, fromMs, toMs, recordLimit: NOTE_COUNT_MAX }
      const batches = (await this.#records?.(request)) ?? []
      const notes = batches.flatMap(notesIn)
      read = [...read, ...notes].slice(-2 * NOTE_COUNT_MAX)
      // More notes of the last millisecond may follow; a note that is read twice is kept once.
      const lastMs = notes.reduce((last, { atMs }) => Math.max(last, atMs), 0) - 1
      const count = batches.reduce((sum, batch) => sum + batch.count, 0)
      if (count < NOTE_COUNT_MAX || lastMs <= fromMs) return read
      fromMs = lastMs
    }
  }

  #keep(id: string, note: KeptNote): void {
    const notes = this.#notes.get(id) ?? []
    const isKnown = ({ atMs, kind, text }: KeptNote) => atMs === note.atMs && kind === note.kind && text === note.text
    if (notes.some(isKnown)) return
    notes.push(note)
    this.#notes.set(id, notes)
    this.#count++
    const [oldest] = this.#notes
    if (this.#count <= NOTE_COUNT_MAX || oldest === undefined) return
    this.#count -= oldest[1].length
    this.#notes.delete(oldest[0])
  }
}

function notesIn({ type, bytes, count, symbols }: Batch): ReadNote[] {
  if (type.fingerprint !== incidentNoteType.fingerprint) return []
  const records = readRecords(incidentNoteType, viewsOf(bytes), count, symbols)
  return [...records].map(({ time, incident, kind, who, note }) => {
    return { incident, kind: kind as IncidentNoteKind, atMs: Number(BigInt(time) / NS_PER_MS), who, text: note }
  })
}
