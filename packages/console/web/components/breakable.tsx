import { Fragment } from 'react'

/** A name that breaks after its underscores where there is no room, never in a word, and is copied as it is. */
export function Breakable({ name }: { readonly name: string }) {
  return name.split('_').map((word, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: words of a name have no other key than their place
    <Fragment key={at}>
      {at > 0 && (
        <>
          _<wbr />
        </>
      )}
      {word}
    </Fragment>
  ))
}
