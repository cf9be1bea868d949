import type { Token } from './tokens.ts'

/** Tokens that begin alike: by their next character, down to a few that are compared as they are. */
interface Branch {
  few: readonly Token[]
  next: ReadonlyMap<string, Branch>
}

/** Tokens that are compared one by one; more are worth a branch. */
const FEW = 4
/** Where branches end. Names are not much longer, and what many tokens have in common is shorter. */
const DEPTH_LIMIT = 64

/** Finds which of many tokens a name has, in one walk along the name however many there are. */
export class TokenIndex {
  readonly #root: Branch
  /** One of all tokens that say the same. */
  readonly #same = new Map<string, Token>()

  constructor(tokens: Iterable<Token>) {
    for (const token of tokens) if (!this.#same.has(keyOf(token))) this.#same.set(keyOf(token), token)
    this.#root = branchesOf([...this.#same.values()])
  }

  /** The token that `tokensOf` gives for one that says the same. */
  same(token: Token): Token {
    return this.#same.get(keyOf(token)) ?? token
  }

  /** The tokens that a name has. */
  tokensOf(name: string): ReadonlySet<Token> {
    const found = new Set<Token>()
    for (let from = 0; from <= name.length; from++) {
      let at = from
      for (let branch: Branch | undefined = this.#root; branch !== undefined; at++) {
        for (const token of branch.few) if (stands(token, name, from)) found.add(token)
        branch = branch.next.get(name[at] ?? '')
      }
    }
    return found
  }
}

function stands({ text, begins, ends }: Token, name: string, from: number): boolean {
  if (begins && from > 0) return false
  return (!ends || from + text.length === name.length) && name.startsWith(text, from)
}

function branchesOf(tokens: readonly Token[]): Branch {
  const root: Branch = { few: tokens, next: new Map() }
  let level = [root]
  for (let depth = 0; depth < DEPTH_LIMIT && level.length > 0; depth++) {
    const crowded = level.filter(({ few }) => few.length > FEW)
    level = crowded.flatMap((branch) => {
      const longer = Map.groupBy(branch.few, ({ text }) => text[depth] ?? '')
      branch.few = longer.get('') ?? []
      longer.delete('')
      branch.next = new Map(Array.from(longer, ([character, few]) => [character, { few, next: new Map() }]))
      return [...branch.next.values()]
    })
  }
  return root
}

function keyOf({ text, begins, ends }: Token): string {
  return `${begins ? '^' : ' '}${ends ? '$' : ' '}${text}`
}
