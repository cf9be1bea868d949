/** A server-sent event. */
export interface SentEvent {
  readonly name: string
  readonly data: string
  /** Id of this event, or of the last event before it that has one; empty before the first. */
  readonly lastId: string
}

/** Limit of an event. Unit: characters. */
const EVENT_LENGTH_MAX = 64 << 20

/** Reads `text/event-stream` in pieces of any size, by the rules of the HTML standard. */
export class SentEventReader {
  /** Pieces of a line without its end. */
  #rest: string[] = []
  #name = ''
  #data: string[] = []
  #length = 0
  #lastId = ''

  /**
   * The events that a piece completes.
   *
   * @throws RangeError if an event has no end.
   */
  read(piece: string): SentEvent[] {
    this.#rest.push(piece)
    this.#length += piece.length
    if (this.#length > EVENT_LENGTH_MAX) throw new RangeError('an event is too long')
    // A long line is joined once, when its end is there.
    const isOpen = !/[\r\n]/.test(piece) && !this.#rest[0]?.endsWith('\r')
    if (isOpen) return []
    const lines = this.#rest.join('').split(/\r\n|\n|\r(?!$)/)
    // A line may go on in the next piece, and so may CR LF.
    this.#rest = [lines.pop() ?? '']
    return lines.flatMap((line) => (line === '' ? this.#end() : this.#take(line)))
  }

  #take(line: string): [] {
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.#name = value
    if (field === 'id' && !value.includes('\0')) this.#lastId = value
    if (field === 'data') this.#data.push(value)
    return []
  }

  #end(): SentEvent[] {
    const event = { name: this.#name || 'message', data: this.#data.join('\n'), lastId: this.#lastId }
    const hasData = this.#data.length > 0
    this.#name = ''
    this.#data = []
    this.#length = this.#rest.join('').length
    return hasData ? [event] : []
  }
}
