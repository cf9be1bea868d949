import type { Asker } from './form.ts'

/** The waiting entries of a host, by connection. */
type Connections<T> = Map<string, T[]>

/**
 * A fair queue. Hosts take turns, then the connections of a host; within a connection, the oldest entry is first. So a
 * busy client waits behind the others. The process itself, which has no asker, counts as a host.
 */
export class AskerQueue<T> {
  /** Hosts in the order of their turns. */
  readonly #hosts = new Map<string, Connections<T>>()
  #count = 0

  /** Number of waiting entries. */
  get count(): number {
    return this.#count
  }

  add(asker: Asker | undefined, item: T): void {
    const { host, connection } = hostAndConnection(asker)
    const connections = this.#hosts.get(host) ?? new Map<string, T[]>()
    const items = connections.get(connection) ?? []
    items.push(item)
    connections.set(connection, items)
    this.#hosts.set(host, connections)
    this.#count++
  }

  /** Removes and returns the next entry; undefined if the queue is empty. */
  next(): T | undefined {
    for (const [host, connections] of this.#hosts) {
      for (const [connection, items] of connections) {
        const item = items.shift()
        // After its turn, a host waits behind all others.
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

  /** Removes the newest entry of the longest connection of the host with the most entries. */
  takeFromLargest(): T | undefined {
    const host = largestOf(this.#hosts, sumOf)
    const connection = largestOf(this.#hosts.get(host) ?? new Map<string, T[]>(), ({ length }) => length)
    return this.#take(host, connection, -1)
  }

  /** Removes an entry; returns whether it was in the queue. */
  remove(asker: Asker | undefined, item: T): boolean {
    const { host, connection } = hostAndConnection(asker)
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

function hostAndConnection(asker: Asker | undefined): Pick<Asker, 'host' | 'connection'> {
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
    // The last of equals, because it waits behind the others anyway.
    if (size >= most) [largest, most] = [key, size]
  }
  return largest
}
