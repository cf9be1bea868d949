/** Head of a column of sparklines. */
export function SparkHead({ of, spanWords }: { readonly of: string; readonly spanWords: string }) {
  return (
    <>
      <span className="visually-hidden">{of}, last </span>
      {spanWords}
    </>
  )
}
