/** What is added to a HELP at most, for absences and for refusals each. Unit: characters. */
const TEXT_LIMIT_CHARACTERS = 400
/** Places that one sentence names. Unit: characters. */
const PLACES_LIMIT_CHARACTERS = TEXT_LIMIT_CHARACTERS / 2
/**
 * Reasons whose places are kept: more than the shortest sentences that the limit has room for. Further ones are
 * counted.
 */
const REASONS_KEPT = 40

/** What one sentence speaks of: its first places, and how many there are. */
interface Places {
  readonly first: { readonly name: string; readonly order: number }[]
  /** Of the names in `first`. Unit: characters. */
  characters: number
  count: number
  /** Whether one of them is everything. */
  isAll: boolean
}

/** Places by the reason that is given for them. It keeps what its text can show, and counts the rest. */
export class Mentions {
  readonly #places = new Map<string, Places>()
  readonly #others = new Set<string>()

  /** Several as one. Places and reasons are in the order that they were given, not in that of the parts. */
  static joined(parts: readonly Mentions[]): Mentions {
    const [only] = parts
    if (only !== undefined && parts.length === 1) return only
    const joined = new Mentions()
    const places = parts.flatMap((part) => [...part.#places])
    for (const [reason, { first, count, isAll }] of places.toSorted(([, a], [, b]) => orderOf(a) - orderOf(b))) {
      const known = joined.#places.get(reason)
      if (known === undefined) joined.#places.set(reason, { first: [...first], characters: 0, count, isAll })
      else {
        known.first.push(...first)
        known.count += count
        known.isAll ||= isAll
      }
    }
    for (const { first } of joined.#places.values()) first.sort((a, b) => a.order - b.order)
    for (const part of parts) for (const reason of part.#others) joined.#others.add(reason)
    return joined
  }

  /** Takes a place, empty for everything. `order` rises from call to call. */
  add(reason: string, name: string, order: number): void {
    const known = this.#places.get(reason)
    if (known !== undefined) note(known, name, order)
    else if (this.#places.size === REASONS_KEPT) this.#others.add(reason)
    else this.#places.set(reason, { first: [{ name, order }], characters: name.length, count: 1, isAll: name === '' })
  }

  /** `Absent for a; b: why.` for every reason, each after a blank, within the limit. */
  text(verb: string): string {
    let text = ''
    let left = 0
    for (const [reason, places] of this.#places) {
      const sentence = ` ${verb}${places.isAll ? '' : ` for ${listOf(places)}`}: ${reason}.`
      if (text.length + sentence.length <= TEXT_LIMIT_CHARACTERS) text += sentence
      else left++
    }
    for (const reason of this.#others) if (!this.#places.has(reason)) left++
    return left === 0 ? text : `${text} ${verb} for ${left} more reason${left === 1 ? '' : 's'}.`
  }
}

/** Names are kept up to the first for which the list has no room. */
function note(places: Places, name: string, order: number): void {
  places.count++
  if (name === '') places.isAll = true
  else if (places.characters <= PLACES_LIMIT_CHARACTERS) {
    places.first.push({ name, order })
    places.characters += name.length
  }
}

function orderOf({ first }: Places): number {
  return first[0]?.order ?? 0
}

function listOf({ first, count }: Places): string {
  const shown: string[] = []
  let length = 0
  for (const { name } of first) {
    length += name.length
    if (length > PLACES_LIMIT_CHARACTERS) break
    shown.push(name)
  }
  const left = count - shown.length
  if (left === 0) return shown.join('; ')
  return shown.length === 0 ? `${left} series` : `${shown.join('; ')} and ${left} more`
}
