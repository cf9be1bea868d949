import type { Asker } from './form.ts'

/** What waits of the connections of a host. */
type Connections<T> = Map<string, T[]>

/**
 * What waits for its turn. Hosts take turns, then the connections of a host; of one connection the oldest goes first.
 * So a busy client waits behind the others. The process itself, which has no asker, is a host like any other.
 */
export class AskerQueue<T> {
  /** Whose turn is next comes first. */
  readonly #hosts = new Map<string, Connections<T>>()
  #count = 0

  /** How much waits. */
  get count(): number {
    return this.#count
  }

  add(asker: Asker | undefined, item: T): void {
    const { host, connection } = keyOf(asker)
    const connections = this.#hosts.get(host) ?? new Map<string, T[]>()
    const items = connections.get(connection) ?? []
    items.push(item)
    connections.set(connection, items)
    this.#hosts.set(host, connections)
    this.#count++
  }

  /** Takes out the next; undefined if nothing waits. */
  next(): T | undefined {
    for (const [host, connections] of this.#hosts) {
      for (const [connection, items] of connections) {
        const item = items.shift()
        // A host that had a turn waits behind all others.
        this.#hosts.delete(host)
        connections.delete(connection)
        if (items.length > 0) connections.set(connection, items)
        if (connections.size > 0) this.#hosts.set(host, connections)
        this.#count--
        return item
      }
    }
    return undefined
  }

  /** Takes out the newest of the connection that has most waiting, of the host that has. */
  takeFromLargest(): T | undefined {
    const host = largestOf(this.#hosts, sumOf)
    const connection = largestOf(this.#hosts.get(host) ?? new Map<string, T[]>(), ({ length }) => length)
    return this.#take(host, connection, -1)
  }

  /** Takes something out; whether it waited. */
  remove(asker: Asker | undefined, item: T): boolean {
    const { host, connection } = keyOf(asker)
    const at = this.#hosts.get(host)?.get(connection)?.indexOf(item) ?? -1
    if (at >= 0) this.#take(host, connection, at)
    return at >= 0
  }

  #take(host: string, connection: string, at: number): T | undefined {
    const connections = this.#hosts.get(host)
    const items = connections?.get(connection)
    const [item] = items?.splice(at, 1) ?? []
    if (items?.length === 0) connections?.delete(connection)
    if (connections?.size === 0) this.#hosts.delete(host)
    if (item !== undefined) this.#count--
    return item
  }
}

function keyOf(asker: Asker | undefined): Pick<Asker, 'host' | 'connection'> {
  return asker ?? { host: '', connection: '' }
}

function sumOf(connections: Connections<unknown>): number {
  let sum = 0
  for (const { length } of connections.values()) sum += length
  return sum
}

function largestOf<T>(from: ReadonlyMap<string, T>, sizeOf: (value: T) => number): string {
  let [largest, most] = ['', -1]
  for (const [key, value] of from) {
    const size = sizeOf(value)
    // Of equals the last: it waits behind the others anyway.
    if (size >= most) [largest, most] = [key, size]
  }
  return largest
}
