/* Put pictures of several panels into boxes of their own, which scroll on small screens. */
document.addEventListener("DOMContentLoaded", () => {
  for (const image of document.querySelectorAll("img.sphx-glr-single-img, img.wide")) {
    const box = document.createElement("div");
    const mark = () => box.classList.toggle("wide-figure", image.naturalWidth > 650);
    image.replaceWith(box);
    box.append(image);
    if (image.complete) mark();
    image.addEventListener("load", mark);
  }
});
