/** Items before the first that may lie unused until the list is packed. */
const PACK_COUNT = 1024

/** A queue. Taking its first item costs the same however many there are, which an array does not promise. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Takes the first item out. */
  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (this.length === 0) return undefined
    this.#items[this.#head++] = undefined
    if (this.#head >= PACK_COUNT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  /** All items, first to last. */
  list(): T[] {
    return this.#items.slice(this.#head) as T[]
  }
}
