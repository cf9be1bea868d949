import type { Subject } from './subjects.ts'

/** Who tells of GPUs and pods: an exporter of a source. */
export interface Claimant {
  readonly address: string
  /** Whether it has not answered for so long that another may stand in. */
  readonly isSilent: boolean
  /** From now on another claimant tells of what has this key. */
  yield(key: string, to: string): void
}

/** Why a claim is refused: somebody else has one of the keys. */
export interface Conflict {
  readonly key: string
  /** Address of an exporter, or name of a source. */
  readonly holder: string
}

/** What sources that read the hardware themselves hold; exporters give way to it. */
export interface Holding {
  readonly key: string
  /** Whether no GPU may have it at all, such as the place of a NIC on the bus. */
  readonly isTaken: boolean
  /** Name of the source. */
  readonly holder: string
}

interface Claim {
  /** Who told of it first: takes it back as soon as it answers again. */
  first: Claimant
  /** Who tells of it now; undefined if nobody does. */
  holder: Claimant | undefined
}

/**
 * Which exporter of a source tells of a GPU, a pod or a node: the first that did. While it does not answer its claim
 * stays; after some misses another may stand in, until it answers again. A claim covers every key by which views merge
 * what is told. Otherwise one exporter could overwrite, or take away, what another tells.
 */
export class Claims {
  readonly #claims = new Map<string, Claim>()
  #held: ReadonlyMap<string, Holding> = new Map()
  /** Rises when something may be claimed that could not be before. */
  version = 0

  /** Claims a GPU or a pod, all of its keys or none; gives the conflict where somebody else has one. */
  take({ keys }: Subject, claimant: Claimant): Conflict | undefined {
    const conflict = this.conflictOf(keys)
    if (conflict !== undefined) return conflict
    for (const key of keys) {
      const claim = this.#claims.get(key)
      if (claim?.holder !== undefined && !mayTake(claim, claimant)) return { key, holder: claim.holder.address }
    }
    for (const key of keys) this.#give(key, claimant)
    return undefined
  }

  /** The key that a source of the hardware holds for another GPU; undefined if there is none. */
  conflictOf([own, ...more]: Subject['keys']): Conflict | undefined {
    // The holder of a node knows all its GPUs: an exporter may tell of these, and of no other.
    const isKnown = this.#held.has(own)
    for (const key of [own, ...more]) {
      const held = this.#held.get(key)
      if (held !== undefined && (!isKnown || held.isTaken)) return { key, holder: held.holder }
    }
    return undefined
  }

  /** What sources of the hardware hold from now on. */
  hold(holdings: readonly Holding[]): void {
    this.#held = new Map(holdings.map((holding) => [holding.key, holding]))
    this.version++
  }

  /** A whole answer of the holder has the key no more: another may take it, and the first may take it back. */
  release(key: string, claimant: Claimant): void {
    const claim = this.#claims.get(key)
    if (claim?.holder !== claimant) return
    claim.holder = undefined
    this.version++
  }

  /** A claimant has no right to it any more. */
  forget(key: string, claimant: Claimant): void {
    const claim = this.#claims.get(key)
    if (claim === undefined) return
    if (claim.holder === claimant) claim.holder = undefined
    if (claim.first !== claimant) return
    if (claim.holder === undefined) this.#claims.delete(key)
    else claim.first = claim.holder
    this.version++
  }

  /** A claimant has not answered for so long that others may stand in for it. */
  lapse(): void {
    this.version++
  }

  #give(key: string, claimant: Claimant): void {
    const claim = this.#claims.get(key)
    if (claim === undefined) {
      this.#claims.set(key, { first: claimant, holder: claimant })
      return
    }
    const { holder } = claim
    claim.holder = claimant
    if (holder !== undefined && holder !== claimant) holder.yield(key, claimant.address)
  }
}

function mayTake({ first, holder }: Claim, claimant: Claimant): boolean {
  return holder === claimant || first === claimant || holder?.isSilent === true
}
